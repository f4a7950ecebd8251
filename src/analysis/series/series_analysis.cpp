// SPDX-License-Identifier: Apache-2.0
#include "lone_values.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/analysis/series_analysis.h>

namespace assay::analysis {

namespace {

constexpr size_t kUsualHorizon = 48;
constexpr double kHour = 3600;
/// Squares of larger ones could not be told from infinity.
constexpr double kLargest = 1e150;

std::vector<double> known_sorted(const std::vector<double>& values) {
  std::vector<double> known;
  std::copy_if(values.begin(), values.end(), std::back_inserter(known),
               [](double value) { return std::isfinite(value); });
  std::sort(known.begin(), known.end());
  return known;
}

double quantile_of(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)))];
}

SeriesSummary summary_of(const std::vector<double>& sorted) {
  double sum = 0;
  for (const double value : sorted) sum += value;
  return {sorted.size(),
          sorted.front(),
          sum / static_cast<double>(sorted.size()),
          quantile_of(sorted, 0.5),
          quantile_of(sorted, 0.95),
          sorted.back()};
}

size_t horizon_of(const SeriesQuestions& questions, const EvenSeries& series) {
  if (questions.horizon) return *questions.horizon;
  const double step = series.step_seconds;
  const size_t wanted =
      step > 0 && step < kHour ? static_cast<size_t>(std::lround(kHour / step)) : kUsualHorizon;
  return std::clamp(series.values.size() / 4, size_t{1}, wanted);
}

/// What a forecast would leave out of account without a word.
Result<void> check_season(size_t season, const std::vector<double>& values) {
  if (season < 2) return bad_input("a season has two samples at least");
  const auto first =
      std::find_if(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
  const auto length = static_cast<size_t>(values.end() - first);
  if (2 * season <= length) return {};
  return bad_input(fmt::format(
      "a season of {} samples has to be there twice at least; the series has {}", season, length));
}

size_t odd_end_of(const std::vector<double>& values) {
  const auto usual = without_lone_values(values);
  size_t count = 0;
  for (size_t i = values.size(); i > 0; --i) {
    if (!std::isfinite(values[i - 1])) continue;
    if (std::isfinite(usual[i - 1])) break;
    ++count;
  }
  return count;
}

/// Nobody uses more than all there is.
void keep_below(double full, Forecast& forecast) {
  for (auto& point : forecast.points)
    for (double* value : {&point.value, &point.low80, &point.high80, &point.low95, &point.high95})
      *value = std::min(*value, full);
}

}  // namespace

std::string_view to_string(UseClass use) {
  switch (use) {
    case UseClass::idle:
      return "idle";
    case UseClass::bursty:
      return "bursty";
    case UseClass::steady:
      return "steady";
    case UseClass::saturated:
      return "saturated";
  }
  return "";
}

UseClass use_class(const std::vector<double>& values, double full, std::optional<UseClass> before) {
  const auto sorted = known_sorted(values);
  if (sorted.empty() || !(full > 0)) return UseClass::idle;
  const double p95 = quantile_of(sorted, 0.95), p25 = quantile_of(sorted, 0.25);
  // What is on one side of a border has to go clearly beyond it.
  const auto border = [&](double at, double clearly, bool from_below) {
    if (!before) return at;
    return from_below ? at + clearly : at - clearly;
  };
  if (p95 < border(0.05, 0.0075, before == UseClass::idle) * full) return UseClass::idle;
  if (p25 >= border(0.9, 0.03, before != UseClass::saturated) * full) return UseClass::saturated;
  // A quarter of the time at less than half of what is usual when there is much to do.
  return p25 < border(0.5, 0.075, before <= UseClass::bursty) * p95 ? UseClass::bursty
                                                                    : UseClass::steady;
}

Result<SeriesAnalysis> analyze_series(const EvenSeries& series, const SeriesQuestions& questions) {
  const auto sorted = known_sorted(series.values);
  if (sorted.empty()) return bad_input("the series has no value that is a number");
  if (std::max(sorted.back(), -sorted.front()) > kLargest)
    return bad_input(
        fmt::format("the series has values beyond {:g}; nothing can be told of it", kLargest));
  if (questions.season) ASSAY_CHECK(check_season(*questions.season, series.values));
  SeriesAnalysis result;
  result.summary = summary_of(sorted);
  result.cycles = find_cycles(series.values);
  const auto full = questions.full ? questions.full : full_of(series.name, result.summary);
  if (full) result.use = use_class(series.values, *full);
  result.season = questions.season;
  result.changes = find_changes(series.values, result.cycles);
  result.odd_end = odd_end_of(series.values);
  // A change of level halfway looks like two turns.
  if (result.cycles.empty() && result.changes.empty() && !questions.season &&
      sorted.front() < sorted.back())
    result.possible_cycle = possible_cycle(series.values);
  const auto seasons = questions.season
                           ? std::vector<size_t>{*questions.season}
                           : seasons_of(result.cycles, series.values.size(), series.step_seconds);
  result.forecast = forecast(series.values, {horizon_of(questions, series), seasons});
  if (full && *full >= result.summary.max) keep_below(*full, result.forecast);
  return result;
}

}  // namespace assay::analysis
