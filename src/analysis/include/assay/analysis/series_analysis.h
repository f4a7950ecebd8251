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

/// The mean one.
constexpr double kSecondsOfYear = 31'556'952;

/// Values at equal distances, oldest first; NaN is a missing one.
struct EvenSeries {
  double start = 0;         ///< in seconds since 1970 or since anything, of the first value
  double step_seconds = 0;  ///< 0: nobody knows
  std::vector<double> values;
  std::string name = {};     ///< of what was measured, with its unit; empty: nobody knows
  size_t marked = 0;         ///< values that were taken for missing by what was written for them
  std::string marks = {};    ///< what that was, as -999 or M
  size_t rows = 0;           ///< of the table that it was read from; 0: of none
  std::string columns = {};  ///< which ones of the table these are, where there was a choice
  /// Why several rows have the same time, as in "station has 2 values: A, B"; empty: nobody knows.
  std::string kinds = {};
  bool years = false;  ///< its times are years, and a step is as many mean ones
  bool dated = false;  ///< its times are since 1970, and not since anything
  /// Of a step, where all times are the same day of their month, or its last; 0: steps are even.
  int months = 0;
  bool month_ends = false;

  /// Of a year it is when that begins, of months that day of them.
  double time(size_t i) const;
  /// For times that are years.
  int year(double at) const;
};

/// Puts samples at any times into equal steps of the usual distance between them: several in one
/// step become their mean, a step without is missing. Times need not be sorted; those that are not
/// finite are left out. Of times that are `dated`, seconds since 1970, steps may be months. An
/// error: fewer than two times, so far apart that there would be more than `most` steps, or, of
/// times that somebody has `written`, a few at an end that are far from all others.
Result<EvenSeries> evenly(std::vector<std::pair<double, double>> samples, size_t most = 10'000'000,
                          bool dated = true, bool written = false);

/// How to read a table, where that is not clear by itself. Columns are named by their heads or
/// counted from 1.
struct SeriesTable {
  std::string column = {};  ///< of the values; empty: the first of numbers behind the times
  /// Empty: the only one of dates, or the first; none: each row is a step.
  std::string time_column = {};
  std::vector<std::string> missing = {};  ///< what else stands for a missing value
};

/// Reads a table `time,value`, with or without a head, or one value a line; tabs or semicolons may
/// stand for commas, which are decimal ones then, and lines with # above it. Times are seconds (or
/// milli-, micro-, nanoseconds) since 1970, seconds since anything, dates with or without a time,
/// or years; an empty cell, NaN or null is a missing value, and so are -999, 9999 and the like
/// where they are far from all others. `who` is for messages.
Result<EvenSeries> parse_series(std::string_view text, const std::string& who,
                                const SeriesTable& table = {});

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
  /// In samples: what may be a cycle, where none was found, nor a change of level, and no season
  /// was said; 0: nothing may.
  double possible_cycle = 0;
  std::optional<UseClass> use = {};   ///< nothing: the series is no share of anything
  std::optional<size_t> season = {};  ///< as it was said
  std::vector<ChangePoint> changes;
  /// How many values at the end are far from all before, fewer than five: they may be failed
  /// readings, or the beginning of something. What is forecast rests on them.
  size_t odd_end = 0;
  Forecast forecast;
};

struct SeriesQuestions {
  /// Of the forecast, in samples; nothing: an hour, where steps are known and shorter than that, or
  /// 48 values; but no more than a quarter of the series.
  std::optional<size_t> horizon = {};
  std::optional<size_t> season = {};  ///< nothing: found
  /// All there is of what is used, which no forecast exceeds; nothing: full_of(), and forecasts
  /// may.
  std::optional<double> full = {};
};

/// Everything that can be told of one series; the forecast is empty where too little is known. An
/// error when not a single value is known, one is beyond any measure, or the season that was said
/// is none: of fewer than two samples, or not twice in the series.
Result<SeriesAnalysis> analyze_series(const EvenSeries& series, const SeriesQuestions& questions);

/// All there is of what a series of that name is a share of: 1 or 100, where its values are within
/// and its name says so (utilization, percent, ratio, ...) or nothing at all.
std::optional<double> full_of(std::string_view name, const SeriesSummary& summary);
/// `full` is all there is of it. What it was `before`, it stays until it is clearly another: of a
/// series at the border of two classes it would be now the one, now the other.
UseClass use_class(const std::vector<double>& values, double full,
                   std::optional<UseClass> before = {});
/// The changes of a series' level, cycles left out of account. O(n log n).
std::vector<ChangePoint> find_changes(const std::vector<double>& values,
                                      const std::vector<Cycle>& cycles);

}  // namespace assay::analysis
