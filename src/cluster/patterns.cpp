// SPDX-License-Identifier: Apache-2.0
#include "patterns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/analysis/forecast.h>

namespace assay::cluster {
namespace {

constexpr size_t kFewest = 20;
constexpr double kHour = 3600, kDay = 86400;
/// Of faster cycles, means of ten minutes show others, which are shorter than this or hardly there.
constexpr double kSlow = 6 * kHour, kLeastSwing = 0.05;
/// Beside cycles of this length, which such means still show as they are, slow ones are real.
constexpr double kShown = kHour;

/// Means of so many values each, so that an hour is not thousands of values ahead.
std::vector<double> coarser(const std::vector<double>& values, size_t by) {
  if (by <= 1) return values;
  std::vector<double> means;
  // From the end, so that the last one is whole.
  for (size_t end = values.size(); end >= by; end -= by) {
    double sum = 0;
    size_t known = 0;
    for (size_t i = end - by; i < end; ++i)
      if (std::isfinite(values[i])) {
        sum += values[i];
        ++known;
      }
    means.push_back(known ? sum / static_cast<double>(known)
                          : std::numeric_limits<double>::quiet_NaN());
  }
  std::reverse(means.begin(), means.end());
  return means;
}

std::optional<Ahead> ahead(const std::vector<double>& values, const analysis::ForecastPlan& plan,
                           double full) {
  const auto points = analysis::forecast(values, plan).points;
  if (points.empty()) return std::nullopt;
  double mean = 0;
  Ahead found{0, std::numeric_limits<float>::max(), 0, std::numeric_limits<float>::max(), 0};
  const auto bounded = [full](double value) {
    return static_cast<float>(std::clamp(value, 0.0, full));
  };
  for (const auto& point : points) {
    mean += bounded(point.value);
    found.low80 = std::min(found.low80, bounded(point.low80));
    found.high80 = std::max(found.high80, bounded(point.high80));
    found.low95 = std::min(found.low95, bounded(point.low95));
    found.high95 = std::max(found.high95, bounded(point.high95));
  }
  found.mean = static_cast<float>(mean / static_cast<double>(points.size()));
  return found;
}

double variance_of(const std::vector<double>& values) {
  double count = 0, sum = 0, squares = 0;
  for (const double value : values)
    if (std::isfinite(value)) {
      ++count;
      sum += value;
      squares += value * value;
    }
  return count > 0 ? squares / count - sum / count * (sum / count) : 0;
}

size_t known_of(const std::vector<double>& values) {
  return static_cast<size_t>(std::count_if(values.begin(), values.end(),
                                           [](double value) { return std::isfinite(value); }));
}

}  // namespace

std::optional<Pattern> pattern_of(const std::vector<double>& values, double step_seconds,
                                  double full, const std::optional<Pattern>& before) {
  if (known_of(values) < kFewest || !(step_seconds > 0)) return std::nullopt;
  Pattern pattern;
  pattern.use =
      analysis::use_class(values, full, before ? std::optional(before->use) : std::nullopt);
  const auto cycles = analysis::find_cycles(values);
  if (!cycles.empty()) {
    pattern.period_seconds = cycles.front().period * step_seconds;
    pattern.confidence = cycles.front().confidence;
  }
  const auto by = static_cast<size_t>(std::max(1.0, std::round(60 / step_seconds)));
  const auto minutes = coarser(values, by);
  const double step = step_seconds * static_cast<double>(by);
  if (minutes.size() < kFewest) return pattern;
  analysis::ForecastPlan plan;
  plan.horizon = static_cast<size_t>(std::max(1.0, std::round(kHour / step)));
  if (by > 1)
    plan.seasons = analysis::seasons_of(analysis::find_cycles(minutes), minutes.size(), step);
  if (by == 1) plan.seasons = analysis::seasons_of(cycles, minutes.size(), step);
  pattern.hour = ahead(minutes, plan, full);
  return pattern;
}

Days days_of(const std::vector<double>& values, double step_seconds, double full) {
  Days days;
  if (known_of(values) < 2 * kFewest || !(step_seconds > 0)) return days;
  const auto cycles = analysis::find_cycles(values);
  const double least = kLeastSwing * full, variance = variance_of(values);
  for (const auto& cycle : cycles) {
    const double period = cycle.period * step_seconds;
    if (period < kShown || cycle.share * variance < least * least) break;
    if (period < kSlow) continue;
    days.period_seconds = period;
    break;
  }
  if (static_cast<double>(values.size()) * step_seconds < kDay) return days;
  analysis::ForecastPlan plan;
  plan.horizon = static_cast<size_t>(std::round(kDay / step_seconds));
  plan.seasons = analysis::seasons_of(cycles, values.size(), step_seconds);
  days.ahead = ahead(values, plan, full);
  return days;
}

}  // namespace assay::cluster
