// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <assay/cluster/scaling_law.h>

namespace assay::cluster {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::array kSerial = {0.0, 0.002, 0.006, 0.015, 0.03, 0.06, 0.1, 0.16, 0.25, 0.4};
constexpr std::array kCrosstalk = {0.0, 2e-5, 8e-5, 3e-4, 1e-3, 3e-3, 8e-3, 2e-2, 5e-2};
constexpr size_t kLaws = kSerial.size() * kCrosstalk.size();

/// Of a trial that does not say how exact it is, and the least that is believed.
constexpr double kUsualError = 0.03;
constexpr double kLeastError = 0.01;
/// How far jobs are from any law: at each count by itself, and drifting from one doubling to the
/// next.
constexpr double kPointMisfit = 0.015;
constexpr double kDriftMisfit = 0.05;
/// Before anything was measured, and between kinds.
constexpr double kAnyLevelSd = 6;
constexpr double kKindLevelSd = 1.0;
constexpr double kPricedLevelSd = 0.7;
/// In steps of the grid: how alike kinds scale; and how much is believed that they do.
constexpr double kAlikeSteps = 1.2;
constexpr double kAlikeBelief = 0.8;

double serial_of(size_t law) {
  return kSerial[law / kCrosstalk.size()];
}
double crosstalk_of(size_t law) {
  return kCrosstalk[law % kCrosstalk.size()];
}
double log_shape(size_t law, double n) {
  const double slower = 1 + serial_of(law) * (n - 1) + crosstalk_of(law) * n * (n - 1);
  return std::log(n) - std::log(std::max(slower, 1e-6));
}

/// Turns logarithms of weights into weights whose sum is 1.
void normalize(std::vector<double>& logs) {
  const double most = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  for (double& one : logs) sum += one = std::exp(one - most);
  for (double& one : logs) one /= sum;
}

/// What the laws of one kind say about another's, which scales alike.
std::vector<double> blurred(const std::vector<double>& weights) {
  const auto rows = static_cast<int>(kSerial.size());
  const auto columns = static_cast<int>(kCrosstalk.size());
  std::vector<double> all(kLaws);
  for (int to = 0; to < rows * columns; ++to) {
    double sum = 0, norm = 0;
    for (int from = 0; from < rows * columns; ++from) {
      const int down = to / columns - from / columns;
      const int right = to % columns - from % columns;
      const double near =
          std::exp(-(down * down + right * right) / (2 * kAlikeSteps * kAlikeSteps));
      sum += near * weights[static_cast<size_t>(from)];
      norm += near;
    }
    all[static_cast<size_t>(to)] =
        (1 - kAlikeBelief) / static_cast<double>(kLaws) + kAlikeBelief * sum / norm;
  }
  return all;
}

double error_of(const Speed& speed) {
  return speed.error > 0 ? std::max(speed.error, kLeastError) : kUsualError;
}

MatrixXd prior_covariance(const VectorXd& doublings, double level_sd) {
  const auto size = doublings.size();
  MatrixXd all(size, size);
  for (Eigen::Index i = 0; i < size; ++i)
    for (Eigen::Index j = 0; j < size; ++j)
      all(i, j) = level_sd * level_sd +
                  kDriftMisfit * kDriftMisfit * std::min(doublings[i], doublings[j]) +
                  (i == j ? kPointMisfit * kPointMisfit : 0);
  return all;
}

}  // namespace

double KindBelief::mean(size_t at) const {
  double sum = 0;
  for (size_t law = 0; law < weights.size(); ++law) sum += weights[law] * means[law][at];
  return sum;
}

double KindBelief::variance(size_t at) const {
  const double middle = mean(at);
  double sum = covariance[at * choices.size() + at];
  for (size_t law = 0; law < weights.size(); ++law)
    sum += weights[law] * (means[law][at] - middle) * (means[law][at] - middle);
  return sum;
}

ScalingBelief::ScalingBelief(std::vector<Choice> choices, std::span<const Speed> speeds,
                             const Prices& prices)
    : choices_(std::move(choices)), speeds_(speeds.begin(), speeds.end()) {
  std::vector<std::string> names;
  for (size_t i = 0; i < choices_.size(); ++i) {
    const auto found = std::find(names.begin(), names.end(), choices_[i].kind);
    const auto kind = static_cast<size_t>(found - names.begin());
    if (found == names.end()) {
      names.push_back(choices_[i].kind);
      kinds_.emplace_back();
    }
    places_.push_back({kind, kinds_[kind].choices.size()});
    kinds_[kind].choices.push_back(i);
  }
  priors_.assign(kinds_.size(), std::vector<double>(kLaws, 0.0));
  levels_.assign(kinds_.size(), 0);
  level_sds_.assign(kinds_.size(), kAnyLevelSd);
  share(prices);
}

/// First each kind by itself, then each with what the others have told.
void ScalingBelief::share(const Prices& prices) {
  std::vector<KindBelief> alone;
  for (size_t kind = 0; kind < kinds_.size(); ++kind) alone.push_back(learn(kind));
  std::vector<size_t> tried(kinds_.size(), 0);
  for (const auto& speed : speeds_) ++tried[places_[speed.choice].kind];
  const auto price = [&](size_t kind) {
    return price_of(prices, {choices_[kinds_[kind].choices.front()].kind, 1});
  };
  for (size_t kind = 0; kind < kinds_.size(); ++kind) {
    double sum = 0, others = 0;
    for (size_t other = 0; other < kinds_.size(); ++other) {
      if (other == kind || tried[other] == 0) continue;
      const Choice& first = choices_[alone[other].choices.front()];
      sum += alone[other].mean(0) - std::log(first.count);
      if (price(kind) > 0 && price(other) > 0) sum += std::log(price(kind) / price(other));
      ++others;
      const auto hint = blurred(alone[other].weights);
      for (size_t law = 0; law < kLaws; ++law) priors_[kind][law] += std::log(hint[law]);
    }
    if (others == 0) continue;
    levels_[kind] = sum / others;
    level_sds_[kind] = price(kind) > 0 ? kPricedLevelSd : kKindLevelSd;
  }
  for (size_t kind = 0; kind < kinds_.size(); ++kind) kinds_[kind] = learn(kind);
}

KindBelief ScalingBelief::learn(size_t kind) const {
  KindBelief belief{kinds_[kind].choices, priors_[kind], {}, {}};
  const auto size = static_cast<Eigen::Index>(belief.choices.size());
  VectorXd doublings(size);
  double least = choices_[belief.choices.front()].count;
  for (const size_t choice : belief.choices) least = std::min(least, choices_[choice].count);
  for (Eigen::Index i = 0; i < size; ++i)
    doublings[i] = std::log2(choices_[belief.choices[static_cast<size_t>(i)]].count / least);
  const MatrixXd prior = prior_covariance(doublings, level_sds_[kind]);

  std::vector<const Speed*> own;
  for (const auto& speed : speeds_)
    if (places_[speed.choice].kind == kind) own.push_back(&speed);
  const auto seen = static_cast<Eigen::Index>(own.size());
  MatrixXd between(size, seen), among(seen, seen);
  VectorXd told(seen);
  for (Eigen::Index i = 0; i < seen; ++i) {
    const auto& speed = *own[static_cast<size_t>(i)];
    const auto at = static_cast<Eigen::Index>(places_[speed.choice].at);
    between.col(i) = prior.col(at);
    told[i] = std::log(speed.throughput) - levels_[kind];
    for (Eigen::Index j = 0; j < seen; ++j)
      among(i, j) =
          prior(at, static_cast<Eigen::Index>(places_[own[static_cast<size_t>(j)]->choice].at));
    among(i, i) += error_of(speed) * error_of(speed);
  }
  const Eigen::LLT<MatrixXd> solver(among);
  MatrixXd covariance = prior;
  MatrixXd gain = MatrixXd::Zero(size, seen);
  if (seen > 0) {
    gain = solver.solve(between.transpose()).transpose();
    covariance -= gain * between.transpose();
  }
  belief.means.resize(kLaws);
  for (size_t law = 0; law < kLaws; ++law) {
    VectorXd shape(size), miss(seen);
    for (Eigen::Index i = 0; i < size; ++i)
      shape[i] = log_shape(law, choices_[belief.choices[static_cast<size_t>(i)]].count);
    for (Eigen::Index i = 0; i < seen; ++i)
      miss[i] = told[i] -
                shape[static_cast<Eigen::Index>(places_[own[static_cast<size_t>(i)]->choice].at)];
    if (seen > 0) {
      belief.weights[law] -= 0.5 * miss.dot(solver.solve(miss));
      shape += gain * miss;
    }
    for (Eigen::Index i = 0; i < size; ++i) belief.means[law].push_back(shape[i] + levels_[kind]);
  }
  normalize(belief.weights);
  belief.covariance.assign(covariance.data(), covariance.data() + covariance.size());
  return belief;
}

Estimate ScalingBelief::throughput(size_t choice) const {
  const KindBelief& kind = kinds_[kind_of(choice)];
  return {std::exp(kind.mean(place_of(choice))), std::sqrt(kind.variance(place_of(choice)))};
}

Law ScalingBelief::law(size_t kind) const {
  const KindBelief& belief = kinds_[kind];
  Law law;
  law.kind = choices_[belief.choices.front()].kind;
  for (const auto& speed : speeds_) law.trials += places_[speed.choice].kind == kind;
  const auto estimate = [&](auto&& value_of) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < kLaws; ++i) {
      const double value = value_of(i);
      mean += belief.weights[i] * value;
      square += belief.weights[i] * value * value;
    }
    return Estimate{mean, std::sqrt(std::max(square - mean * mean, 0.0))};
  };
  law.serial = estimate(serial_of);
  law.crosstalk = estimate(crosstalk_of);
  const double n = choices_[belief.choices.front()].count;
  const Estimate one = estimate([&](size_t i) { return belief.means[i][0] - log_shape(i, n); });
  law.one = {std::exp(one.value), std::sqrt(one.sd * one.sd + belief.covariance[0])};
  return law;
}

}  // namespace assay::cluster
