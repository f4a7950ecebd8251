// SPDX-License-Identifier: Apache-2.0
#include "series_words.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/base/time.h>

namespace assay::report {
namespace {

/// Times below are counted from the beginning of something, not from 1970: it is 1973 behind it.
constexpr double kDates = 1e8;
constexpr size_t kMostChanges = 4;

std::string duration_text(double seconds) {
  constexpr double kDay = 86400;
  if (seconds > 0 && seconds < 0.1) return format_duration(from_seconds(seconds));
  if (seconds >= 2 * kDay) return fmt::format("{} days", format_number(seconds / kDay));
  // Steps are never quite even: 0.9997 s is a second.
  if (seconds == 0) return "0 s";
  auto text = format_duration(from_seconds(std::round(seconds * 100) / 100));
  for (const std::string_view nothing : {" 0 s", " 0 min"})
    if (text.ends_with(nothing)) text.resize(text.size() - nothing.size());
  return text;
}

std::string count_text(double samples) {
  const double whole = std::round(samples);
  const double shown = std::abs(samples - whole) < 0.05 ? whole : samples;
  return fmt::format("{} sample{}", format_number(shown), shown == 1 ? "" : "s");
}

std::string range_text(double low, double high) {
  return fmt::format("{} to {}", format_number(low), format_number(high));
}

/// A cycle that explains less of all change is told in its own line only.
constexpr double kShareWorthSaying = 0.01;

std::string cycles_answer(const SeriesView& view) {
  const auto& cycles = view.analysis.cycles;
  if (cycles.empty()) return "no cycle";
  std::string text = "repeats every " + span_text(cycles[0].period, view.series.step_seconds);
  if (cycles.size() > 1 && cycles[1].share >= kShareWorthSaying)
    text += " and every " + span_text(cycles[1].period, view.series.step_seconds);
  return text;
}

std::string methods_text(const analysis::Forecast& forecast) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(3, forecast.methods.size()); ++i)
    text += fmt::format("{}{} {:.0f} %", i ? ", " : "", forecast.methods[i].name,
                        100 * forecast.methods[i].weight);
  if (forecast.methods.size() > 3) text += fmt::format(" and {} more", forecast.methods.size() - 3);
  return text;
}

std::string changes_text(const SeriesView& view) {
  const auto& changes = view.analysis.changes;
  std::string text;
  for (size_t i = 0; i < std::min(kMostChanges, changes.size()); ++i)
    text += fmt::format("{}from {} to {} at {}", i ? "; " : "", format_number(changes[i].before),
                        format_number(changes[i].after),
                        place_text(view.series, static_cast<double>(changes[i].at)));
  if (changes.size() > kMostChanges)
    text += fmt::format("; {} more", changes.size() - kMostChanges);
  return text;
}

}  // namespace

std::string span_text(double samples, double step_seconds) {
  return step_seconds > 0
             ? fmt::format("{} ({})", ahead_text(samples, step_seconds), count_text(samples))
             : count_text(samples);
}

std::string ahead_text(double samples, double step_seconds) {
  const double whole = std::round(samples);
  const double shown = std::abs(samples - whole) < 0.05 ? whole : samples;
  return step_seconds > 0 ? duration_text(shown * step_seconds) : count_text(samples);
}

std::string place_text(const analysis::EvenSeries& series, double at) {
  if (!(series.step_seconds > 0)) return fmt::format("value {:.0f}", at + 1);
  const double time = series.start + at * series.step_seconds;
  if (series.start < kDates || time > 9e9) return duration_text(at * series.step_seconds) + " in";
  auto text = format_utc(Timestamp(from_seconds(time)));
  return text.substr(0, 10) + " " + text.substr(11, 8);
}

std::string series_answer(const SeriesView& view) {
  const auto& analysis = view.analysis;
  std::string text = fmt::format("{}, {}", cycles_answer(view), analysis::to_string(analysis.use));
  const auto& points = analysis.forecast.points;
  if (points.empty()) return text;
  double mean = 0, low = points[0].low80, high = points[0].high80;
  for (const auto& point : points) {
    mean += point.value / static_cast<double>(points.size());
    low = std::min(low, point.low80);
    high = std::max(high, point.high80);
  }
  return text + fmt::format("; the next {}: {} on average, mostly {}",
                            span_text(static_cast<double>(points.size()), view.series.step_seconds),
                            format_number(mean), range_text(low, high));
}

std::vector<std::pair<std::string, std::string>> series_findings(const SeriesView& view) {
  const auto& found = view.analysis;
  const auto& summary = found.summary;
  std::vector<std::pair<std::string, std::string>> lines;
  const size_t missing = view.series.values.size() - summary.known;
  lines.emplace_back("values", fmt::format("{}, {}mean {}, p95 {}, {}", summary.known,
                                           missing ? fmt::format("{} missing, ", missing) : "",
                                           format_number(summary.mean), format_number(summary.p95),
                                           range_text(summary.min, summary.max)));
  for (const auto& cycle : found.cycles)
    lines.emplace_back(
        "cycle", fmt::format("every {}; one turn is to {:.0f} % like the next, and this explains "
                             "{:.0f} % of all change",
                             span_text(cycle.period, view.series.step_seconds),
                             100 * cycle.confidence, 100 * cycle.share));
  if (!found.changes.empty()) lines.emplace_back("level", changes_text(view));
  if (!found.forecast.methods.empty()) lines.emplace_back("told by", methods_text(found.forecast));
  return lines;
}

std::vector<size_t> shown_points(size_t horizon) {
  constexpr size_t kRows = 6;
  std::vector<size_t> rows;
  for (size_t i = 0; i < std::min(kRows, horizon); ++i)
    rows.push_back(horizon <= kRows ? i : (i * (horizon - 1) + (kRows - 1) / 2) / (kRows - 1));
  return rows;
}

}  // namespace assay::report
