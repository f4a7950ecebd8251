// SPDX-License-Identifier: Apache-2.0
#include "few_turns.h"

#include <algorithm>
#include <cmath>

namespace assay::analysis {

namespace {

constexpr double kMostTurns = 4.3, kFewestTurns = 1.98;
/// A straight line, a quarter of it later, is still alike by two thirds; a turn has to be more.
constexpr double kAlike = 0.8;
/// Of two turns nobody knows which one a change belongs to: there must be none.
constexpr double kTwoTurns = 2.8, kTwoAlike = 0.95;
/// What is left of the variance without noise has to be worth it.
constexpr double kLittle = 0.2;
constexpr size_t kShortest = 40;

double variance_of(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size());
}

/// By how much values differ from those so many later: the mean, which a change in one of the turns
/// does not lead astray, or the mean square.
template <bool kSquare>
double difference(const std::vector<double>& values, size_t later) {
  double sum = 0;
  for (size_t i = later; i < values.size(); ++i) {
    const double here = values[i] - values[i - later];
    sum += kSquare ? here * here : std::abs(here);
  }
  return sum / static_cast<double>(values.size() - later);
}

/// 0: there is none that turns agree on.
size_t period_of(const std::vector<double>& values, double noise) {
  const auto length = static_cast<double>(values.size());
  const double all = variance_of(values), signal = all - noise;
  if (!(signal > kLittle * all)) return 0;
  const auto from = static_cast<size_t>(length / kMostTurns);
  const auto to = static_cast<size_t>(0.55 * length);
  size_t best = from;
  double least = difference<false>(values, from);
  for (size_t period = from + 1; period <= to; ++period) {
    const double here = difference<false>(values, period);
    if (here >= least) continue;
    least = here;
    best = period;
  }
  // At the ends it is no top: what is most alike lies beyond.
  if (best == from || best == to) return 0;
  const double square = difference<true>(values, best);
  const double alike = 1 - std::max(0.0, square - 2 * noise) / (2 * signal);
  const double turns = length / static_cast<double>(best);
  if (turns < kFewestTurns) return 0;
  return alike >= (turns < kTwoTurns ? kTwoAlike : kAlike) ? best : 0;
}

double middle_of(std::vector<double>& values) {
  const size_t half = values.size() / 2;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(half);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

/// The mean of the most alike ones, of more than half: what one turn has alone does not count.
double common_of(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const size_t most = values.size() / 2 + 1;
  size_t best = 0;
  for (size_t i = 1; i + most <= values.size(); ++i)
    if (values[i + most - 1] - values[i] < values[best + most - 1] - values[best]) best = i;
  double sum = 0;
  for (size_t i = best; i < best + most; ++i) sum += values[i];
  return sum / static_cast<double>(most);
}

/// How far the turn that begins at `from` lies above the first one.
double level_of(const std::vector<double>& values, size_t from, size_t period) {
  std::vector<double> above;
  for (size_t i = from; i < std::min(values.size(), from + period); ++i)
    above.push_back(values[i] - values[i - from]);
  return middle_of(above);
}

}  // namespace

std::vector<double> without_few_turns(std::vector<double> values, double noise) {
  if (values.size() < 2 * kShortest) return values;
  const size_t period = period_of(values, noise);
  if (period == 0) return values;
  std::vector<double> levels;
  for (size_t from = 0; from < values.size(); from += period)
    levels.push_back(from ? level_of(values, from, period) : 0);
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  std::vector<double> there;
  for (size_t phase = 0; phase < period; ++phase) {
    there.clear();
    for (size_t i = phase; i < values.size(); i += period)
      there.push_back(values[i] - levels[i / period]);
    const double common = common_of(there) - mean;
    for (size_t i = phase; i < values.size(); i += period) values[i] -= common;
  }
  return values;
}

}  // namespace assay::analysis
