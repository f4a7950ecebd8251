// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <assay/analysis/cycles.h>

namespace assay::analysis {

namespace {

/// Longer series are looked at in as many steps: the time grows with their square.
constexpr size_t kSteps = 1000;
constexpr size_t kFewest = 20;
constexpr double kMostTurns = 4.3, kFewestTurns = 1.98;
/// From so many turns on they are told as a cycle, or are none.
constexpr double kEnoughTurns = 4;
/// So far apart values are compared, in shares of all: a top at the fewest turns has both sides.
constexpr double kFarthest = 0.55;
/// How alike turns are, and how unlike half turns or so: of what merely wanders, one in twenty is.
constexpr double kAlike = 0.7, kUnlike = -0.3;
/// What is left of a straight line by rounding is nothing, nor is that of a level.
constexpr double kRounded = 1e-12, kRoundedLevel = 1e-14;
/// Half of a period that is alike by nearly as much is taken for it.
constexpr double kNearly = 0.1;

std::vector<double> in_steps(std::span<const double> values, size_t width) {
  std::vector<double> steps;
  for (size_t from = 0; from < values.size(); from += width) {
    double sum = 0, count = 0;
    for (const double value : values.subspan(from, std::min(width, values.size() - from)))
      if (std::isfinite(value)) {
        sum += value;
        ++count;
      }
    steps.push_back(count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN());
  }
  return steps;
}

/// A line through values that are known; NaN where there are none.
struct Sums {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

  void add(double a, double b) {
    if (!std::isfinite(a) || !std::isfinite(b)) return;
    ++n;
    x += a;
    y += b;
    xx += a * a;
    yy += b * b;
    xy += a * b;
  }
  double spread_x() const { return xx - x * x / n; }
  double spread_y() const { return yy - y * y / n; }
  double both() const { return xy - x * y / n; }
};

/// False: there is too little else.
bool take_trend(std::vector<double>& values) {
  const auto known =
      std::find_if(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
  const double level = known == values.end() ? 0 : *known;
  Sums sums;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] -= level;
    sums.add(static_cast<double>(i), values[i]);
  }
  if (sums.n < kFewest) return false;
  const double slope = sums.both() / sums.spread_x();
  const double start = (sums.y - slope * sums.x) / sums.n;
  double left = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] -= start + slope * static_cast<double>(i);
    if (std::isfinite(values[i])) left += values[i] * values[i];
  }
  const double rounding = kRoundedLevel * level;
  return left > kRounded * sums.yy + sums.n * rounding * rounding;
}

/// The correlation with what comes so many steps later; -1 where too little is known.
double correlation(const std::vector<double>& values, size_t later) {
  Sums sums;
  for (size_t i = later; i < values.size(); ++i) sums.add(values[i - later], values[i]);
  if (2 * sums.n < static_cast<double>(values.size() - later)) return -1;
  const double spread = sums.spread_x() * sums.spread_y();
  return spread > 0 ? sums.both() / std::sqrt(spread) : -1;
}

}  // namespace

double possible_cycle(std::span<const double> values) {
  while (!values.empty() && !std::isfinite(values.front())) values = values.subspan(1);
  const size_t width = values.size() / kSteps + 1;
  auto steps = in_steps(values, width);
  if (!take_trend(steps)) return 0;
  const auto length = static_cast<double>(steps.size());
  const auto shortest = static_cast<size_t>(length / kMostTurns);
  std::vector<double> alike(static_cast<size_t>(kFarthest * length) + 2, -1);
  for (size_t lag = 1; lag < alike.size(); ++lag) alike[lag] = correlation(steps, lag);
  const auto top = [&](size_t from, size_t to) {
    const auto begin = alike.begin();
    return static_cast<size_t>(
        std::max_element(begin + static_cast<ptrdiff_t>(from), begin + static_cast<ptrdiff_t>(to)) -
        begin);
  };
  size_t best = top(shortest, alike.size());
  if (best / 2 > shortest) {
    const size_t half = top(best / 2 - best / 20, best / 2 + best / 20 + 2);
    if (alike[half] > alike[best] - kNearly) best = half;
  }
  // At the ends it is no top: what is most alike lies beyond.
  if (best == shortest || best + 1 == alike.size() || alike[best] < kAlike ||
      *std::min_element(alike.begin() + static_cast<ptrdiff_t>(best / 4 + 1),
                        alike.begin() + static_cast<ptrdiff_t>(best)) > kUnlike)
    return 0;
  const auto all = static_cast<double>(values.size()), period = static_cast<double>(best * width);
  if (kEnoughTurns * period <= all || static_cast<double>(best) > length / kFewestTurns + 1)
    return 0;
  return std::min(period, std::floor(all / 2));
}

}  // namespace assay::analysis
