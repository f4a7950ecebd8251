// SPDX-License-Identifier: Apache-2.0
#include "scaling_shapes.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::cluster {
namespace {

constexpr std::array kSerial = {0.0, 0.002, 0.006, 0.015, 0.03, 0.06, 0.1, 0.16, 0.25, 0.4};
constexpr std::array kCrosstalk = {0.0, 2e-5, 8e-5, 3e-4, 1e-3, 3e-3, 8e-3, 2e-2, 5e-2};
constexpr std::array kPowers = {0.0,  0.15, 0.3,  0.45, 0.5,  0.55, 0.6,
                                0.65, 0.7,  0.75, 0.8,  0.85, 0.9,  0.95};
constexpr std::array kNodeSizes = {2.0, 4.0, 8.0};
constexpr std::array kInsideNode = {0.86, 0.93, 0.98};
constexpr std::array kAcrossNodes = {0.3, 0.45, 0.6, 0.75, 0.9};
constexpr std::array kFirstCrossing = {0.7, 0.8, 0.9, 1.0};
constexpr std::array kSharpness = {4.0, 10.0};
constexpr size_t kMosts = 14;
constexpr std::array kLacks = {0.05, 0.1, 0.2, 0.3, 0.4};
constexpr std::array kLackSerial = {0.0, 0.006, 0.015, 0.03, 0.06, 0.1};
constexpr std::array kParts = {8.0, 12.0, 16.0, 24.0, 32.0, 64.0};
/// So much crosstalk that more are soon slower than fewer.
constexpr std::array kHeavyCrosstalk = {0.07, 0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.0, 1.6, 3.0};
/// As fast as their number up to a turn, and from there on slower by a power of it.
constexpr std::array kTurns = {1.0, 1.2, 1.5, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0, 16.0, 32.0};
constexpr std::array kFalls = {0.06, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 1.0, 1.2};
constexpr std::array kPartWaits = {0.0, 0.001, 0.003, 0.008, 0.02, 0.04};

/// The others share the rest evenly. Jobs that more make slower are rare, but no single trial may
/// call it clear that a job is none of them.
constexpr double kUniversalPrior = 0.4;
constexpr double kSlowerPrior = 0.05;  ///< of each of two families
/// In steps of a grid: how alike kinds scale; and how much is believed that they do.
constexpr double kAlikeSteps = 1.2;
constexpr double kAlikeBelief = 0.85;

enum class Family : unsigned char {
  universal,
  power,
  nodes,
  input,
  memory,
  parts,
  slower,
  turning
};
constexpr size_t kFamilies = 8;

/// Kinds have the same family and `fixed`, and the others in the neighbourhood.
struct Shape {
  Family family = Family::universal;
  size_t fixed = 0;
  std::array<size_t, 3> at = {};
};

double log_universal(double n, const Universal& law) {
  const double slower = 1 + law.serial * (n - 1) + law.crosstalk * n * (n - 1);
  return std::log(n) - std::log(std::max(slower, 1e-6));
}

double log_turning(double n, double turn, double fall) {
  return std::log(std::min(n, turn)) - fall * std::log(std::max(n / turn, 1.0));
}

double most_of(size_t at) {
  return 1.5 * std::pow(1.3, static_cast<double>(at));
}

double log_least(double n, double most, double sharpness) {
  return -std::log(std::pow(n, -sharpness) + std::pow(most, -sharpness)) / sharpness;
}

double log_parts(double n, double parts, double wait) {
  return -std::log(std::ceil(parts / n - 1e-9) / parts + wait * std::max(n - 1, 0.0));
}

std::vector<Shape> all_shapes() {
  std::vector<Shape> all;
  const auto add = [&](Family family, size_t fixed, size_t a, size_t b = 1, size_t c = 1) {
    for (size_t i = 0; i < a; ++i)
      for (size_t j = 0; j < b; ++j)
        for (size_t k = 0; k < c; ++k) all.push_back({family, fixed, {i, j, k}});
  };
  add(Family::universal, 0, kSerial.size(), kCrosstalk.size());
  add(Family::power, 0, kPowers.size());
  for (size_t i = 0; i < kNodeSizes.size(); ++i)
    add(Family::nodes, i, kInsideNode.size(), kAcrossNodes.size(), kFirstCrossing.size());
  for (size_t i = 0; i < kSharpness.size(); ++i) add(Family::input, i, kMosts);
  add(Family::memory, 0, kLacks.size(), kLackSerial.size());
  for (size_t i = 0; i < kParts.size(); ++i) add(Family::parts, i, kPartWaits.size());
  add(Family::slower, 0, kHeavyCrosstalk.size());
  for (size_t i = 0; i < kTurns.size(); ++i) add(Family::turning, i, kFalls.size());
  return all;
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kAll = all_shapes();
  return kAll;
}

double nearness(const Shape& a, const Shape& b) {
  if (a.family != b.family || a.fixed != b.fixed) return 0;
  double square = 0;
  for (size_t i = 0; i < a.at.size(); ++i) {
    const double apart = static_cast<double>(a.at[i]) - static_cast<double>(b.at[i]);
    square += apart * apart;
  }
  return std::exp(-square / (2 * kAlikeSteps * kAlikeSteps));
}

double prior_of(Family family) {
  if (family == Family::universal) return kUniversalPrior;
  if (family == Family::slower || family == Family::turning) return kSlowerPrior;
  return (1 - kUniversalPrior - 2 * kSlowerPrior) / (kFamilies - 3);
}

/// Within a family all are as likely, but late turns are rarer.
double share_of(const Shape& shape) {
  return shape.family == Family::turning ? 1 / std::sqrt(kTurns[shape.fixed]) : 1;
}

std::vector<double> all_priors() {
  std::array<double, kFamilies> sums = {};
  for (const auto& shape : shapes()) sums[static_cast<size_t>(shape.family)] += share_of(shape);
  std::vector<double> all;
  for (const auto& shape : shapes())
    all.push_back(prior_of(shape.family) * share_of(shape) /
                  sums[static_cast<size_t>(shape.family)]);
  return all;
}

std::vector<double> all_alike() {
  const size_t count = shape_count();
  std::vector<double> all(count * count);
  for (size_t job = 0; job < count; ++job) {
    double sum = 0;
    for (size_t kind = 0; kind < count; ++kind)
      sum += all[job * count + kind] = nearness(shapes()[job], shapes()[kind]);
    for (size_t kind = 0; kind < count; ++kind) {
      double& one = all[job * count + kind];
      one = kAlikeBelief * one / sum + (1 - kAlikeBelief) * shape_priors()[kind];
    }
  }
  return all;
}

}  // namespace

size_t shape_count() {
  return shapes().size();
}

double log_speedup(size_t shape, double n, double least) {
  const Shape& one = shapes()[shape];
  const double more = std::max(n / least, 1.0), fewer = std::log(std::min(n, least));
  const auto [a, b, c] = one.at;
  switch (one.family) {
    case Family::universal:
      return log_universal(n, {kSerial[a], kCrosstalk[b]});
    case Family::power:
      return kPowers[a] * std::log(n);
    case Family::nodes: {
      const double size = kNodeSizes[one.fixed];
      const double inside = kInsideNode[a] * std::log(std::min(n, size));
      return n <= size
                 ? inside
                 : inside + kAcrossNodes[b] * std::log(n / size) + std::log(kFirstCrossing[c]);
    }
    case Family::input: {
      const double sharpness = kSharpness[one.fixed], most = most_of(a);
      return log_least(n, most, sharpness) - log_least(1, most, sharpness);
    }
    case Family::memory:
      return std::log(std::max(n - kLacks[a], 0.1 * n) / (1 - kLacks[a])) -
             std::log1p(kLackSerial[b] * std::max(n - 1, 0.0));
    case Family::parts:
      return log_parts(n, kParts[one.fixed], kPartWaits[a]);
    case Family::slower:
      return fewer + log_universal(more, {0, kHeavyCrosstalk[a]});
    case Family::turning:
      return fewer + log_turning(more, kTurns[one.fixed], kFalls[a]);
  }
  return 0;
}

const std::vector<double>& shape_priors() {
  static const std::vector<double> kAll = all_priors();
  return kAll;
}

const std::vector<double>& shapes_alike() {
  static const std::vector<double> kAll = all_alike();
  return kAll;
}

std::optional<Universal> universal_of(size_t shape, double least) {
  const Shape& one = shapes()[shape];
  if (one.family == Family::slower && least == 1) return Universal{0, kHeavyCrosstalk[one.at[0]]};
  if (one.family != Family::universal) return std::nullopt;
  return Universal{kSerial[one.at[0]], kCrosstalk[one.at[1]]};
}

}  // namespace assay::cluster
