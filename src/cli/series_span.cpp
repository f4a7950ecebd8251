// SPDX-License-Identifier: Apache-2.0
#include "series_span.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <optional>

#include <assay/base/text.h>
#include <assay/base/time.h>

namespace assay::cli {
namespace {

constexpr size_t kMost = 100'000;
constexpr double kDay = 86400;

/// How many weeks or years, in steps; nothing: it is another time.
std::optional<double> long_steps(const std::string& text, const analysis::EvenSeries& series) {
  const std::string_view all = trim(text);
  const size_t digits = std::min(all.find_first_not_of("0123456789."), all.size());
  const auto number = parse_double(all.substr(0, digits));
  const auto unit = trim(all.substr(digits));
  const auto is_one_of = [&](const auto& names) {
    return std::find(std::begin(names), std::end(names), unit) != std::end(names);
  };
  constexpr std::string_view kWeeks[] = {"w", "week", "weeks"}, kYears[] = {"y", "year", "years"};
  if (!number) return std::nullopt;
  if (is_one_of(kWeeks)) return *number * 7 * kDay / series.step_seconds;
  if (!is_one_of(kYears)) return std::nullopt;
  const bool calendar = series.months > 0 || series.years;
  return *number * (calendar ? analysis::kSecondsOfYear : 365.25 * kDay) / series.step_seconds;
}

std::string step_text(const analysis::EvenSeries& series) {
  const auto of = [](double count, const char* unit) {
    return count == 1 ? fmt::format("{} {}", *unit == 'h' ? "an" : "a", unit)
                      : fmt::format("{:g} {}s", count, unit);
  };
  const double step = series.step_seconds;
  if (series.years) return of(std::round(step / analysis::kSecondsOfYear), "year");
  if (const int months = series.months; months > 0) {
    const int years = months / 12;
    return months % 12 ? of(months, "month") : of(years, "year");
  }
  for (const auto& [seconds, unit] : {std::pair{kDay, "day"}, {3600.0, "hour"}, {60.0, "minute"}})
    if (step >= seconds && std::fmod(step, seconds) == 0) return of(step / seconds, unit);
  return of(step, "second");
}

}  // namespace

Result<size_t> samples_of(const std::string& option, const std::string& text,
                          const analysis::EvenSeries& series, size_t least) {
  if (const auto count = parse_uint(text); count && *count >= least && *count <= kMost)
    return static_cast<size_t>(*count);
  const double step = series.step_seconds;
  const auto time = parse_duration(text);
  const auto longer = long_steps(text, series);
  if (parse_double(text) || (!time && !longer))
    return bad_input(fmt::format(
        "{} {}: a number of samples from {} to {}, or a time as 30s, 10m, 1h, 2d, 1w or 1y", option,
        text, least, kMost));
  if (!(step > 0))
    return bad_input(
        fmt::format("{} {}: this series has no times; say how many samples", option, text));
  const double count = std::round(longer ? *longer : seconds(*time) / step);
  if (count < static_cast<double>(least))
    return bad_input(fmt::format("{} {}: a step is {} here, and {} at least {} needed", option,
                                 text, step_text(series), least, least == 1 ? "is" : "are"));
  if (!(count <= static_cast<double>(kMost)))
    return bad_input(fmt::format("{} {} is {:.15g} samples; {} to {} can be had", option, text,
                                 count, least, kMost));
  return static_cast<size_t>(count);
}

}  // namespace assay::cli
