// SPDX-License-Identifier: Apache-2.0
#include "intervals.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include <assay/analysis/run_analysis.h>

namespace assay::analysis {
namespace {

constexpr std::string_view kUnknownRate = "_per_second";
constexpr size_t kEnoughGaps = 4;

struct Point {
  Timestamp time;
  double value = 0;
};

std::vector<Point> finite_points(const Series& series) {
  std::vector<Point> points;
  const size_t size = std::min(series.times.size(), series.values.size());
  points.reserve(size);
  for (size_t i = 0; i < size; ++i) {
    const bool backwards = !points.empty() && series.times[i] < points.back().time;
    if (std::isfinite(series.values[i]) && !backwards) {
      points.push_back({series.times[i], series.values[i]});
    }
  }
  return points;
}

/// The median distance of neighbouring points; 0 when there are too few to speak of a usual one.
Nanoseconds usual_distance(const std::vector<Point>& points) {
  std::vector<Nanoseconds> gaps;
  for (size_t i = 1; i < points.size(); ++i) {
    if (points[i].time > points[i - 1].time) gaps.push_back(points[i].time - points[i - 1].time);
  }
  if (gaps.size() < kEnoughGaps) return Nanoseconds(0);
  const auto middle = gaps.begin() + static_cast<ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return *middle;
}

std::vector<Point> well_spaced(const std::vector<Point>& points) {
  const Nanoseconds least = std::max(usual_distance(points) / 4, Nanoseconds(1));
  std::vector<Point> kept;
  kept.reserve(points.size());
  for (const auto& p : points) {
    if (kept.empty() || p.time - kept.back().time >= least) kept.push_back(p);
  }
  // The last sample holds the total of the run, so its neighbour makes room.
  if (!kept.empty() && points.back().time > kept.back().time) {
    if (kept.size() > 1) kept.pop_back();
    kept.push_back(points.back());
  }
  return kept;
}

double combined(const std::vector<double>& values, Combine how) {
  double sum = 0;
  for (const double v : values) sum += v;
  switch (how) {
    case Combine::sum:
      return sum;
    case Combine::mean:
      return sum / static_cast<double>(values.size());
    case Combine::highest:
      return *std::max_element(values.begin(), values.end());
  }
  return sum;
}

std::vector<Timestamp> boundaries(const std::vector<std::vector<Interval>>& parts) {
  std::vector<Timestamp> times;
  for (const auto& part : parts) {
    for (const auto& i : part) {
      times.push_back(i.begin);
      times.push_back(i.end);
    }
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

}  // namespace

bool is_rate(const SeriesInfo& info) {
  if (info.kind != Kind::counter) return false;
  const Metric* known = find_metric(info.name);
  return known != nullptr ? known->rate_name == info.name
                          : std::string_view(info.name).ends_with(kUnknownRate);
}

std::vector<Interval> rate_intervals(const Series& counter) {
  const auto points = well_spaced(finite_points(counter));
  std::vector<Interval> rates;
  for (size_t i = 1; i < points.size(); ++i) {
    const double grown = points[i].value - points[i - 1].value;
    if (grown < 0) continue;
    rates.push_back(
        {points[i - 1].time, points[i].time, grown / seconds(points[i].time - points[i - 1].time)});
  }
  return rates;
}

std::vector<Interval> gauge_intervals(const Series& gauge, Timestamp to) {
  const auto points = finite_points(gauge);
  std::vector<Interval> levels;
  levels.reserve(points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    const Timestamp end = i + 1 < points.size() ? points[i + 1].time : std::max(to, points[i].time);
    levels.push_back({points[i].time, end, points[i].value});
  }
  return levels;
}

std::vector<Interval> intervals_of(const Series& recorded, Timestamp to) {
  return recorded.info.kind == Kind::counter ? rate_intervals(recorded)
                                             : gauge_intervals(recorded, to);
}

std::vector<Interval> combine(const std::vector<std::vector<Interval>>& parts, Combine how) {
  if (parts.size() == 1) return parts.front();
  const auto times = boundaries(parts);
  std::vector<size_t> next(parts.size(), 0);
  std::vector<Interval> result;
  std::vector<double> values;
  for (size_t t = 0; t + 1 < times.size(); ++t) {
    values.clear();
    for (size_t p = 0; p < parts.size(); ++p) {
      while (next[p] < parts[p].size() && parts[p][next[p]].end <= times[t]) ++next[p];
      if (next[p] < parts[p].size() && parts[p][next[p]].begin <= times[t]) {
        values.push_back(parts[p][next[p]].value);
      }
    }
    if (!values.empty()) result.push_back({times[t], times[t + 1], combined(values, how)});
  }
  return result;
}

Series as_shown(const Series& series) {
  if (series.info.kind != Kind::counter || is_rate(series.info)) return series;
  Series shown{series.info, {}, {}};
  const Metric* known = find_metric(series.info.name);
  if (known != nullptr && !known->rate_name.empty()) {
    shown.info.name = known->rate_name;
    shown.info.unit = known->rate_unit;
  } else {
    shown.info.name += kUnknownRate;
    if (!shown.info.unit.empty()) shown.info.unit += " per second";
  }
  for (const auto& rate : rate_intervals(series)) {
    shown.times.push_back(rate.end);
    shown.values.push_back(rate.value);
  }
  return shown;
}

}  // namespace assay::analysis
