// SPDX-License-Identifier: Apache-2.0
#include "calendar_months.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <limits>

#include <assay/analysis/series_analysis.h>
#include <assay/base/time.h>

namespace assay::analysis {

namespace {
using Samples = std::vector<std::pair<double, double>>;

/// The median distance of neighbours that are not at the same time; 0: there are none.
double usual_step(const Samples& sorted) {
  std::vector<double> steps;
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i].first > sorted[i - 1].first)
      steps.push_back(sorted[i].first - sorted[i - 1].first);
  if (steps.empty()) return 0;
  const auto middle = steps.begin() + static_cast<ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

/// How far nearly all steps are from being a multiple of the usual one.
double jitter_of(const Samples& sorted, double usual) {
  std::vector<double> off;
  for (size_t i = 1; i < sorted.size(); ++i) {
    const double step = sorted[i].first - sorted[i - 1].first;
    if (step > 0) off.push_back(std::abs(step - usual * std::round(step / usual)));
  }
  const auto most = off.begin() + static_cast<ptrdiff_t>(9 * off.size() / 10);
  std::nth_element(off.begin(), most, off.end());
  return *most;
}

/// Of clocks that jitter, the days, hours, minutes or seconds that they mean: where the end of all
/// is no farther away by that than the jitter explains. Months and years are not meant to be even.
double rounded(double step, double count, double usual, double jitter) {
  constexpr double kNear = 0.005, kPart = 0.25, kMonth = 28 * 86400.0;
  for (const double unit : {86400.0, 3600.0, 60.0, 1.0}) {
    const double round = unit * std::round(step / unit);
    const double off = std::abs(round - step);
    // Where nearly all steps are that, one at an end may be late.
    const double most =
        std::abs(usual - round) < 1e-6 * round ? kPart * step : std::min(2 * jitter, kPart * step);
    if (off < kNear * step && off * count <= most && step < kMonth) return round;
  }
  return step;
}

/// The mean of all steps, with long ones taken as several: a median of rounded times drifts away.
double even_step(const Samples& sorted) {
  const double usual = usual_step(sorted);
  double count = 0;
  for (size_t i = 1; i < sorted.size(); ++i)
    count += std::round((sorted[i].first - sorted[i - 1].first) / usual);
  const double mean = (sorted.back().first - sorted.front().first) / std::max(1.0, count);
  return rounded(std::abs(mean / usual - 1) < 0.1 ? mean : usual, count, usual,
                 jitter_of(sorted, usual));
}

std::string time_text(double time, bool dated) {
  if (!dated) return fmt::format("{}", time);
  auto text = format_utc(Timestamp(Milliseconds(std::llround(time * 1e3))));
  if (const auto at = text.find(".000"); at != text.npos) text.erase(at, 4);
  return text;
}

/// A few times at an end that are so far from all others that somebody wrote another year, or 0.
Result<void> check_ends(const Samples& sorted, bool dated) {
  constexpr size_t kFewest = 8, kOfHowMany = 100;
  constexpr double kFar = 20;
  const size_t count = sorted.size();
  if (count < kFewest) return {};
  const auto time = [&](size_t i) { return sorted[i].first; };
  for (size_t few = 1; few <= std::max<size_t>(1, count / kOfHowMany); ++few) {
    const bool late =
        time(count - few) - time(count - few - 1) > kFar * (time(count - few - 1) - time(0));
    const bool early = time(few) - time(few - 1) > kFar * (time(count - 1) - time(few));
    if (!late && !early) continue;
    const size_t at = late ? count - few : 0;
    return bad_input(fmt::format(
        "the time {} is far from all others, which are from {} to {}: correct it, or take its row "
        "out",
        time_text(time(at), dated), time_text(time(late ? 0 : few), dated),
        time_text(time(late ? count - few - 1 : count - 1), dated)));
  }
  return {};
}

/// From 1970 to when a year of our calendar begins, also of those that std::chrono does not know.
int64_t days_before(int64_t year) {
  const int64_t past = year - 1;
  constexpr int64_t kLeapYearsBefore1970 = 477;
  return 365 * (year - 1970) + past / 4 - past / 100 + past / 400 - kLeapYearsBefore1970;
}

}  // namespace

int EvenSeries::year(double at) const {
  return static_cast<int>(std::lround(1970 + (start + at * step_seconds) / kSecondsOfYear));
}

double EvenSeries::time(size_t i) const {
  const auto at = static_cast<double>(i);
  if (months > 0 && std::abs(start + step_seconds * at) < kFarthestMonth)
    return months_later(start, months * static_cast<int64_t>(i), month_ends);
  if (!years) return start + step_seconds * at;
  return 86400.0 * static_cast<double>(days_before(year(at)));
}

Result<EvenSeries> evenly(Samples samples, size_t most, bool dated, bool written) {
  std::erase_if(samples, [](const auto& sample) { return !std::isfinite(sample.first); });
  std::stable_sort(samples.begin(), samples.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (samples.size() < 2 || samples.front().first == samples.back().first)
    return bad_input("a series needs values at two different times at least");
  if (written) ASSAY_CHECK(check_ends(samples, dated));
  EvenSeries series;
  series.start = samples.front().first;
  const auto calendar = dated ? calendar_months(samples) : std::nullopt;
  if (calendar) {
    series.months = calendar->step;
    series.month_ends = calendar->ends;
  }
  series.step_seconds = calendar ? calendar->step * kSecondsOfYear / 12 : even_step(samples);
  // Months are less than half of one away from as many mean ones.
  const double count = std::round((samples.back().first - series.start) / series.step_seconds) + 1;
  if (count > static_cast<double>(most))
    return bad_input(fmt::format(
        "the values are {:g} seconds apart and would fill {:g} steps, more than {}; cut the series "
        "or take fewer values",
        series.step_seconds, count, most));
  series.values.resize(static_cast<size_t>(count));
  std::vector<uint32_t> known(series.values.size());
  for (const auto& [time, value] : samples) {
    if (!std::isfinite(value)) continue;
    const auto at = static_cast<size_t>(std::round((time - series.start) / series.step_seconds));
    series.values[at] += value;
    ++known[at];
  }
  for (size_t i = 0; i < known.size(); ++i)
    series.values[i] =
        known[i] ? series.values[i] / known[i] : std::numeric_limits<double>::quiet_NaN();
  return series;
}

}  // namespace assay::analysis
