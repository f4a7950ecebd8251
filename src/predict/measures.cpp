// SPDX-License-Identifier: Apache-2.0
#include "statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <assay/predict/measures.h>

namespace assay::predict {
namespace {

constexpr double kTenth = 0.1;

double relative_error(const Judged& one) {
  return std::abs(one.predicted - one.actual) / one.actual;
}

/// From 1; equal values have the mean of their ranks.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = static_cast<double>(begin + end + 1) / 2;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
    begin = end;
  }
  return ranks;
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double correlation(std::span<const double> a, std::span<const double> b) {
  const double mean_a = mean(a);
  const double mean_b = mean(b);
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

}  // namespace

double spearman(std::span<const double> a, std::span<const double> b) {
  return correlation(ranks(a), ranks(b));
}

Accuracy accuracy(std::span<const Judged> all) {
  Accuracy result{.count = all.size()};
  if (all.empty()) return result;
  const auto count = static_cast<double>(all.size());
  std::vector<double> predicted;
  std::vector<double> actual;
  std::vector<double> relative;
  double squares = 0;
  for (const auto& one : all) {
    const double error = one.predicted - one.actual;
    result.mean_error += std::abs(error) / count;
    squares += error * error;
    predicted.push_back(one.predicted);
    actual.push_back(one.actual);
    relative.push_back(relative_error(one));
  }
  const double mean_actual = mean(actual);
  double spread = 0;
  for (const double time : actual) spread += (time - mean_actual) * (time - mean_actual);
  result.root_mean_square_error = std::sqrt(squares / count);
  result.r_squared = spread > 0 ? 1 - squares / spread : 0;
  result.mean_relative_error = mean(relative);
  const auto within =
      std::count_if(relative.begin(), relative.end(), [](double error) { return error <= kTenth; });
  result.within_tenth = static_cast<double>(within) / count;
  result.median_relative_error = median(std::move(relative));
  result.spearman = spearman(predicted, actual);
  return result;
}

Choices judge_choices(std::span<const std::vector<Judged>> choices) {
  Choices result;
  double right = 0;
  double regret = 0;
  for (const auto& choice : choices) {
    if (choice.size() < 2) continue;
    ++result.count;
    const auto picked = std::min_element(
        choice.begin(), choice.end(),
        [](const Judged& a, const Judged& b) { return a.predicted < b.predicted; });
    const auto fastest =
        std::min_element(choice.begin(), choice.end(),
                         [](const Judged& a, const Judged& b) { return a.actual < b.actual; });
    if (picked->actual <= fastest->actual) ++right;
    regret += picked->actual / fastest->actual - 1;
  }
  if (result.count == 0) return result;
  result.right = right / static_cast<double>(result.count);
  result.mean_regret = regret / static_cast<double>(result.count);
  return result;
}

double coverage(std::span<const Interval> all) {
  if (all.empty()) return 0;
  const auto within = std::count_if(all.begin(), all.end(), [](const Interval& one) {
    return one.low <= one.actual && one.actual <= one.high;
  });
  return static_cast<double>(within) / static_cast<double>(all.size());
}

}  // namespace assay::predict
