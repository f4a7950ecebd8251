// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <assay/report/series_report.h>

/// What the text and the page say alike.
namespace assay::report {

/// Writes numbers of a series: with three digits, and with as many more as tell its values apart.
class NumberTexts {
 public:
  explicit NumberTexts(const SeriesView& view);
  std::string operator()(double value) const;
  std::string range(double low, double high) const;

 private:
  int decimals_ = 0;
};

/// "7 samples", or "7 min (7 samples)" where the step is known.
std::string span_text(double samples, double step_seconds);
/// "7 samples", or "7 min" where the step is known.
std::string ahead_text(double samples, double step_seconds);
/// When a value is: a date, a year, "12 min 30 s in", or its number.
std::string place_text(const analysis::EvenSeries& series, double at);
/// When the last value is: "now", or as place_text() tells it.
std::string end_text(const SeriesView& view);
/// Whether its times are dates; years are none.
bool is_dated(const analysis::EvenSeries& series);
/// Behind it, in seconds since 1970, dates do not fit into a Timestamp.
constexpr double kLatestDate = 9e9;
/// As format_utc() has it, of seconds since 1970, to the nearest millisecond.
std::string utc_text(double time);
/// The answer in one sentence without a full stop.
std::string series_answer(const SeriesView& view);
/// What it rests on: pairs of a short head and a sentence.
std::vector<std::pair<std::string, std::string>> series_findings(const SeriesView& view);
/// Which points of the forecast to write out: the first, some between and the last.
std::vector<size_t> shown_points(size_t horizon);

/// Whether a plot from one to the other would show nothing but how numbers are rounded.
bool is_flat(double low, double high);

/// Numbers beside an axis, ascending: with as many digits as it takes to tell them apart.
std::vector<std::string> axis_texts(const std::vector<double>& values);

}  // namespace assay::report
