// SPDX-License-Identifier: Apache-2.0
#include "memory_growth.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <assay/analysis/outlook.h>

namespace assay::analysis {
namespace {

constexpr double kLongest = 30 * 86400.0;
/// Pairs of so many are all looked at.
constexpr size_t kMostPoints = 120;

struct Point {
  double time;
  double value;
};

/// At most kMostPoints, evenly chosen, the last one among them.
std::vector<Point> thinned(const std::vector<Point>& points) {
  if (points.size() <= kMostPoints) return points;
  std::vector<Point> chosen;
  for (size_t i = 0; i < kMostPoints; ++i)
    chosen.push_back(points[(i * (points.size() - 1)) / (kMostPoints - 1)]);
  return chosen;
}

struct Pace {
  double median = 0;
  double slow = 0;  ///< of ten pairs, one is slower
  double fast = 0;
};

/// By the slopes of pairs that are far enough apart.
std::optional<Pace> pace_of(const std::vector<Point>& all) {
  const auto points = thinned(all);
  if (points.size() < 3) return std::nullopt;
  const size_t apart = std::max<size_t>(1, points.size() / 4);
  std::vector<double> slopes;
  for (size_t i = 0; i < points.size(); ++i)
    for (size_t j = i + apart; j < points.size(); ++j)
      if (points[j].time > points[i].time)
        slopes.push_back((points[j].value - points[i].value) / (points[j].time - points[i].time));
  if (slopes.empty()) return std::nullopt;
  std::sort(slopes.begin(), slopes.end());
  const auto at = [&](double share) {
    return slopes[static_cast<size_t>(share * static_cast<double>(slopes.size() - 1))];
  };
  return Pace{at(0.5), at(0.1), at(0.9)};
}

std::optional<Outlook> outlook(const Pace& pace, double left) {
  if (!(pace.median > 0) || !(left / pace.median < kLongest)) return std::nullopt;
  const double latest = pace.slow > 0 ? std::min(left / pace.slow, kLongest) : kLongest;
  return Outlook{pace.median, left / pace.median, left / pace.fast, latest};
}

}  // namespace

std::optional<Outlook> time_to_limit(const EvenSeries& level, double limit) {
  if (!(level.step_seconds > 0)) return std::nullopt;
  std::vector<Point> points;
  std::vector<Interval> intervals;
  const Nanoseconds step = from_seconds(level.step_seconds);
  for (size_t i = 0; i < level.values.size(); ++i) {
    if (!std::isfinite(level.values[i])) continue;
    points.push_back({static_cast<double>(i) * level.step_seconds, level.values[i]});
    const Timestamp begin(static_cast<int64_t>(i) * step);
    intervals.push_back({begin, begin + step, level.values[i]});
  }
  if (points.empty() || points.back().value >= limit) return std::nullopt;
  if (!steady_growth(intervals, intervals.front().begin, intervals.back().end)) return std::nullopt;
  const auto pace = pace_of(points);
  return pace ? outlook(*pace, limit - points.back().value) : std::nullopt;
}

std::optional<Outlook> time_to_finish(std::span<const StepReport> reports, double all) {
  size_t first = 0;
  for (size_t i = 1; i < reports.size(); ++i)
    if (reports[i].step < reports[i - 1].step) first = i;
  std::vector<Point> points;
  for (const auto& report : reports.subspan(reports.empty() ? 0 : first))
    if (std::isfinite(report.step) && std::isfinite(report.time))
      points.push_back({report.time, report.step});
  if (points.size() < 3 || !(points.back().value < all)) return std::nullopt;
  const auto pace = pace_of(points);
  return pace ? outlook(*pace, all - points.back().value) : std::nullopt;
}

}  // namespace assay::analysis
