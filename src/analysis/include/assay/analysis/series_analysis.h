// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/analysis/cycles.h>
#include <assay/analysis/forecast.h>
#include <assay/base/result.h>

namespace assay::analysis {

/// Values at equal distances, oldest first; NaN is a missing one.
struct EvenSeries {
  double start = 0;         ///< in seconds since 1970 or since anything, of the first value
  double step_seconds = 0;  ///< 0: nobody knows
  std::vector<double> values;

  double time(size_t i) const { return start + step_seconds * static_cast<double>(i); }
};

/// Puts samples at any times into equal steps of the usual distance between them: several in one
/// step become their mean, a step without is missing. Times need not be sorted; those that are not
/// finite are left out. An error: fewer than two times, or so far apart that there would be more
/// than `most` steps.
Result<EvenSeries> evenly(std::vector<std::pair<double, double>> samples, size_t most = 10'000'000);

/// Reads a table `time,value`, with or without a head, or one value a line; tabs or semicolons may
/// stand for commas, and lines with # above it. Times are seconds (or milli-, micro-, nanoseconds)
/// since 1970, seconds since anything, or as in 2026-01-31T12:00:00Z; an empty cell, NaN or null is
/// a missing value. `column` names or counts (from 1, the time not counted) one of
/// several columns of values; empty: the first. `who` is for messages.
Result<EvenSeries> parse_series(std::string_view text, const std::string& who,
                                const std::string& column = "");

enum class UseClass : uint8_t {
  idle,       ///< nearly nothing, nearly always
  bursty,     ///< now much, now little
  steady,     ///< about the same all the time
  saturated,  ///< nearly all there is, most of the time
};
std::string_view to_string(UseClass use);

/// Where the level of a series changed for good.
struct ChangePoint {
  size_t at = 0;  ///< the first value of the new level
  double before = 0;
  double after = 0;
};

struct SeriesSummary {
  size_t known = 0;
  double min = 0;
  double mean = 0;
  double p50 = 0;
  double p95 = 0;
  double max = 0;
};

struct SeriesAnalysis {
  SeriesSummary summary;
  std::vector<Cycle> cycles;
  UseClass use = UseClass::idle;
  std::vector<ChangePoint> changes;
  Forecast forecast;
};

struct SeriesQuestions {
  /// Of the forecast, in samples; nothing: an hour, where steps are known and shorter than that, or
  /// 48 values; but no more than a quarter of the series.
  std::optional<size_t> horizon = {};
  std::optional<size_t> season = {};  ///< nothing: found
  /// All there is of what is used, which no forecast exceeds; nothing: 1 or 100 by the values, and
  /// forecasts may.
  std::optional<double> full = {};
};

/// Everything that can be told of one series. An error when not a single value is known, or one is
/// beyond any measure.
Result<SeriesAnalysis> analyze_series(const EvenSeries& series, const SeriesQuestions& questions);

/// `full` is all there is of it. What it was `before`, it stays until it is clearly another: of a
/// series at the border of two classes it would be now the one, now the other.
UseClass use_class(const std::vector<double>& values, double full,
                   std::optional<UseClass> before = {});
/// The changes of a series' level, cycles left out of account. O(n log n).
std::vector<ChangePoint> find_changes(const std::vector<double>& values,
                                      const std::vector<Cycle>& cycles);

}  // namespace assay::analysis
