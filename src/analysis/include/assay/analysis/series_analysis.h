// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
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
  /// Of the forecast, in samples; nothing: an hour, where steps are known and shorter than that;
  /// otherwise 48 values.
  std::optional<size_t> horizon = {};
  std::optional<size_t> season = {};  ///< nothing: found
  std::optional<double> full = {};    ///< of what is used; nothing: 1 or 100 by the values
};

/// Everything that can be told of one series. An error when not a single value is known.
Result<SeriesAnalysis> analyze_series(const EvenSeries& series, const SeriesQuestions& questions);

/// `full` is all there is of it.
UseClass use_class(const std::vector<double>& values, double full);
/// The changes of a series' level, cycles left out of account. O(n log n).
std::vector<ChangePoint> find_changes(const std::vector<double>& values,
                                      const std::vector<Cycle>& cycles);

}  // namespace assay::analysis
