// SPDX-License-Identifier: Apache-2.0
#include "series_words.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <optional>

#include <assay/base/text.h>
#include <assay/base/time.h>

namespace assay::report {
namespace {

constexpr double kDay = 86400;
constexpr double kMonth = analysis::kSecondsOfYear / 12;
/// Steps from here on are told in years.
constexpr double kNearlyYear = 360 * kDay;
constexpr size_t kMostChanges = 4;

std::string duration_text(double seconds) {
  if (seconds > 0 && seconds < 0.1) return format_duration(from_seconds(seconds));
  if (seconds >= 2 * kDay) return fmt::format("{} days", format_number(seconds / kDay));
  // Steps are never quite even: 0.9997 s is a second.
  if (seconds == 0) return "0 s";
  auto text = format_duration(from_seconds(std::round(seconds * 100) / 100));
  for (const std::string_view nothing : {" 0 s", " 0 min"})
    if (text.ends_with(nothing)) text.resize(text.size() - nothing.size());
  return text;
}

std::string years_text(double seconds) {
  const double years = std::round(seconds / analysis::kSecondsOfYear * 100) / 100;
  return fmt::format("{} year{}", format_number(years), years == 1 ? "" : "s");
}

std::string months_text(double months) {
  constexpr double kYear = 12;
  if (months == kYear || months >= 2 * kYear) return years_text(months * kMonth);
  return months == 1 ? "1 month" : format_number(months) + " months";
}

std::string count_text(double samples) {
  const double whole = std::round(samples);
  const double shown = std::abs(samples - whole) < 0.05 ? whole : samples;
  return fmt::format("{} sample{}", format_number(shown), shown == 1 ? "" : "s");
}

/// Between the ends of which most values are; if they are equal, all.
double usual_spread(const std::vector<double>& values) {
  constexpr double kRounded = 1e-9;
  std::vector<double> known;
  std::copy_if(values.begin(), values.end(), std::back_inserter(known),
               [](double value) { return std::isfinite(value); });
  if (known.empty()) return 0;
  const auto at = [&](double share) {
    const auto place =
        known.begin() + static_cast<ptrdiff_t>(share * static_cast<double>(known.size() - 1));
    std::nth_element(known.begin(), place, known.end());
    return *place;
  };
  const double most = at(0.9), fewest = at(0.1);
  if (most - fewest > kRounded * std::max(std::abs(most), std::abs(fewest))) return most - fewest;
  return at(1) - at(0);
}

/// What a cycle lasts: as people name it, where that is as good.
std::string period_text(const SeriesView& view, double period) {
  constexpr double kMost = 0.02, kOfTurn = 0.2;
  constexpr double kHour = 3600;
  const double step = view.series.step_seconds;
  const double length = static_cast<double>(view.series.values.size());
  const double near = std::min(kMost, kOfTurn * period / length);
  for (const double named : {kHour, kDay / 2, kDay, 7 * kDay, analysis::kSecondsOfYear})
    if (step > 0 && view.series.months == 0 && std::abs(period * step / named - 1) <= near)
      return fmt::format("{} ({})", named > kNearlyYear ? years_text(named) : duration_text(named),
                         count_text(period));
  return span_text(period, step);
}

constexpr double kSamePeriod = 0.02;
/// With fewer values than these, nothing is told, or with how few it is.
constexpr size_t kTooFew = 8, kFew = 20;
/// A series ends now when its end is not longer ago: so many steps, or so many seconds.
constexpr double kRecentSteps = 2, kRecentSeconds = 120;

/// A cycle that explains less of all change is told in its own line only.
constexpr double kShareWorthSaying = 0.01;

/// What is said instead of what was found, with what was found where that is another one.
std::string season_answer(const SeriesView& view) {
  const auto season = static_cast<double>(*view.analysis.season);
  const double step = view.series.step_seconds;
  std::string text = fmt::format("with the season of {} given", span_text(season, step));
  const auto& cycles = view.analysis.cycles;
  const bool found = std::any_of(cycles.begin(), cycles.end(), [&](const auto& cycle) {
    return std::abs(cycle.period / season - 1) < kSamePeriod;
  });
  if (!cycles.empty() && !found)
    text +=
        fmt::format(", though by itself it repeats every {}", period_text(view, cycles[0].period));
  return text;
}

/// Never rounded up to as many as are needed.
double possible_turns(const SeriesView& view) {
  const auto& values = view.series.values;
  const auto known =
      std::find_if(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
  const auto length = static_cast<double>(values.end() - known);
  return std::floor(10 * length / view.analysis.possible_cycle) / 10;
}

std::string possible_answer(const SeriesView& view) {
  const double period = view.analysis.possible_cycle;
  if (!(period > 0)) return "no cycle";
  return fmt::format("may repeat every {}, though the record is too short to tell",
                     span_text(period, view.series.step_seconds));
}

std::string possible_text(const SeriesView& view) {
  const double period = view.analysis.possible_cycle;
  return fmt::format(
      "maybe every {}: it is there {:.1f} times only, and 4 are needed to tell; where you know "
      "that it repeats, say --season {:.0f}",
      span_text(period, view.series.step_seconds), possible_turns(view), period);
}

std::string cycles_answer(const SeriesView& view) {
  const auto& cycles = view.analysis.cycles;
  if (view.analysis.season) return season_answer(view);
  const auto& summary = view.analysis.summary;
  if (summary.min == summary.max) return "always " + NumberTexts(view)(summary.min);
  if (cycles.empty()) return possible_answer(view);
  std::string text = "repeats every " + period_text(view, cycles[0].period);
  if (cycles.size() > 1 && cycles[1].share >= kShareWorthSaying)
    text += " and every " + period_text(view, cycles[1].period);
  return text;
}

/// Whoever has two series in one table, or time apart from its date, should see it.
std::string rows_text(const analysis::EvenSeries& series) {
  if (series.rows <= series.values.size()) return "";
  return fmt::format(" (means of {} rows: several have the same time)", series.rows);
}

/// Where most times are there several times, nobody asked for what is told.
std::string means_answer(const analysis::EvenSeries& series) {
  constexpr double kMost = 1.5;
  if (static_cast<double>(series.rows) < kMost * static_cast<double>(series.values.size()))
    return "";
  const auto kinds = series.kinds.empty() ? "" : fmt::format(" ({})", series.kinds);
  return fmt::format("as means of {} rows at {} times{}: ", series.rows, series.values.size(),
                     kinds);
}

std::string missing_text(size_t missing, const analysis::EvenSeries& series) {
  if (missing == 0) return "";
  return series.marked
             ? fmt::format("{} missing ({} written as {}), ", missing, series.marked, series.marks)
             : fmt::format("{} missing, ", missing);
}

std::string methods_text(const analysis::Forecast& forecast) {
  constexpr size_t kShown = 3;
  const auto& methods = forecast.methods;
  if (methods.size() == 1) return methods[0].name;
  std::string text = fmt::format("a mean of {} methods{}", methods.size(),
                                 methods.size() > kShown ? ", first " : ": ");
  for (size_t i = 0; i < std::min(kShown, methods.size()); ++i)
    text += fmt::format("{}{} ({:.0f} %)", i ? ", " : "", methods[i].name, 100 * methods[i].weight);
  return text;
}

std::string change_text(const SeriesView& view, const analysis::ChangePoint& change) {
  const NumberTexts number(view);
  return fmt::format("from {} to {} {} {}", number(change.before), number(change.after),
                     view.series.years ? "in" : "at",
                     place_text(view.series, static_cast<double>(change.at)));
}

std::string changes_answer(const SeriesView& view) {
  const auto& changes = view.analysis.changes;
  if (changes.empty()) return "";
  return fmt::format("; {} {}",
                     changes.size() == 1
                         ? "its level changed"
                         : fmt::format("its level changed {} times, last", changes.size()),
                     change_text(view, changes.back()));
}

std::string changes_text(const SeriesView& view) {
  const auto& changes = view.analysis.changes;
  std::string text;
  for (size_t i = 0; i < std::min(kMostChanges, changes.size()); ++i)
    text += (i ? "; " : "") + change_text(view, changes[i]);
  if (changes.size() > kMostChanges)
    text += fmt::format("; {} more", changes.size() - kMostChanges);
  return text;
}

/// One value, where all of the last ones are that.
std::optional<double> only_value_of_end(const SeriesView& view) {
  std::optional<double> only;
  size_t left = view.analysis.odd_end;
  const auto& values = view.series.values;
  for (size_t i = values.size(); i > 0 && left > 0; --i) {
    if (!std::isfinite(values[i - 1])) continue;
    if (only && values[i - 1] != *only) return std::nullopt;
    only = values[i - 1];
    --left;
  }
  return only;
}

std::string odd_end_text(const SeriesView& view) {
  const size_t count = view.analysis.odd_end;
  return count == 1 ? "its last value is far from all before"
                    : fmt::format("its last {} values are far from all before", count);
}

/// What to do about it.
std::string odd_end_advice(const SeriesView& view) {
  const auto only = only_value_of_end(view);
  return odd_end_text(view) + ", and what is told to come rests on them: where they are failed " +
         "readings, " +
         (only && view.series.rows > 0 ? fmt::format("say --missing {}", format_number(*only))
                                       : "take them out");
}

}  // namespace

NumberTexts::NumberTexts(const SeriesView& view) {
  constexpr int kAll = 12;
  const double spread = usual_spread(view.series.values);
  decimals_ =
      spread > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(spread))), 0, kAll) : kAll;
}

std::string NumberTexts::operator()(double value) const {
  return format_number(value, decimals_);
}

std::string NumberTexts::range(double low, double high) const {
  return fmt::format("{} to {}", (*this)(low), (*this)(high));
}

std::string span_text(double samples, double step_seconds) {
  return step_seconds > 0
             ? fmt::format("{} ({})", ahead_text(samples, step_seconds), count_text(samples))
             : count_text(samples);
}

std::string ahead_text(double samples, double step_seconds) {
  const double whole = std::round(samples);
  const double shown = std::abs(samples - whole) < 0.05 ? whole : samples;
  if (const double months = step_seconds / kMonth; months > 0 && months == std::round(months))
    return months_text(shown * months);
  if (step_seconds >= kNearlyYear) return years_text(shown * step_seconds);
  return step_seconds > 0 ? duration_text(shown * step_seconds) : count_text(samples);
}

std::string place_text(const analysis::EvenSeries& series, double at) {
  if (!(series.step_seconds > 0)) return fmt::format("value {:.0f}", at + 1);
  if (series.years) return std::to_string(series.year(at));
  const double time = series.time(static_cast<size_t>(std::llround(at)));
  if (!series.dated || time > kLatestDate) return duration_text(at * series.step_seconds) + " in";
  const auto text = utc_text(time);
  const auto date = text.substr(0, 10), clock = text.substr(11, 8);
  return series.step_seconds >= kDay && clock == "00:00:00" ? date : date + " " + clock;
}

bool is_dated(const analysis::EvenSeries& series) {
  return series.step_seconds > 0 && series.dated && !series.years;
}

std::string utc_text(double time) {
  return format_utc(Timestamp(Milliseconds(std::llround(time * 1e3))));
}

std::string end_text(const SeriesView& view) {
  const auto& series = view.series;
  const size_t last = std::max<size_t>(1, series.values.size()) - 1;
  if (is_dated(series) && view.now) {
    const double recent = std::max(kRecentSeconds, kRecentSteps * series.step_seconds);
    if (std::abs(*view.now - series.time(last)) <= recent) return "now";
  }
  return place_text(series, static_cast<double>(last));
}

std::string series_answer(const SeriesView& view) {
  const auto& analysis = view.analysis;
  const size_t known = analysis.summary.known, count = view.series.values.size();
  if (known < kTooFew)
    return fmt::format("too little to tell: {}, and at least {} are needed",
                       known < count ? fmt::format("{} of {} values are known", known, count)
                       : known == 1  ? "there is 1 value"
                                     : fmt::format("there are {} values", known),
                       kTooFew);
  std::string text = means_answer(view.series) + cycles_answer(view);
  if (analysis.use) text += fmt::format(", {}", analysis::to_string(*analysis.use));
  if (2 * known < count)
    text += fmt::format(
        ", with {:.0f} % of all values missing",
        std::floor(100 - 100 * static_cast<double>(known) / static_cast<double>(count)));
  text += changes_answer(view);
  if (analysis.odd_end > 0) text += "; " + odd_end_text(view);
  const auto& points = analysis.forecast.points;
  if (points.empty()) return text + "; too little is known of its end to tell what comes next";
  if (known < kFew) text += fmt::format("; from {} values only", known);
  double middle = 0, low = points[0].low80, high = points[0].high80;
  for (const auto& point : points) {
    middle += point.value / static_cast<double>(points.size());
    low = std::min(low, point.low80);
    high = std::max(high, point.high80);
  }
  const NumberTexts number(view);
  text += fmt::format("; the next {}: {}{}",
                      span_text(static_cast<double>(points.size()), view.series.step_seconds),
                      low < high ? "typically " : "", number(middle));
  return low < high ? text + ", mostly " + number.range(low, high) : text;
}

std::vector<std::pair<std::string, std::string>> series_findings(const SeriesView& view) {
  const auto& found = view.analysis;
  const auto& summary = found.summary;
  std::vector<std::pair<std::string, std::string>> lines;
  const NumberTexts number(view);
  const size_t missing = view.series.values.size() - summary.known;
  if (!view.series.columns.empty()) lines.emplace_back("read", view.series.columns);
  lines.emplace_back(
      "values", fmt::format("{}{}, {}mean {}, p95 {}, {}", summary.known, rows_text(view.series),
                            missing_text(missing, view.series), number(summary.mean),
                            number(summary.p95), number.range(summary.min, summary.max)));
  for (const auto& cycle : found.cycles)
    lines.emplace_back(
        "cycle",
        fmt::format("every {}; one turn is to {:.0f} % like the next, and this explains "
                    "{:.0f} % of what is left without its drift",
                    period_text(view, cycle.period), 100 * cycle.confidence, 100 * cycle.share));
  if (found.possible_cycle > 0) lines.emplace_back("cycle", possible_text(view));
  if (!found.changes.empty()) lines.emplace_back("level", changes_text(view));
  if (found.odd_end > 0) lines.emplace_back("end", odd_end_advice(view));
  if (!found.forecast.methods.empty()) lines.emplace_back("told by", methods_text(found.forecast));
  return lines;
}

bool is_flat(double low, double high) {
  constexpr double kRounded = 1e-13;
  return !(high - low > kRounded * std::max(std::abs(low), std::abs(high)));
}

std::vector<std::string> axis_texts(const std::vector<double>& values) {
  constexpr int kMostDigits = 15;
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const double value : values) texts.push_back(format_number(value));
  for (int digits = 4; digits <= kMostDigits; ++digits) {
    if (std::adjacent_find(texts.begin(), texts.end()) == texts.end()) break;
    for (size_t i = 0; i < values.size(); ++i) texts[i] = fmt::format("{:.{}g}", values[i], digits);
  }
  return texts;
}

std::vector<size_t> shown_points(size_t horizon) {
  constexpr size_t kRows = 6;
  std::vector<size_t> rows;
  for (size_t i = 0; i < std::min(kRows, horizon); ++i)
    rows.push_back(horizon <= kRows ? i : (i * (horizon - 1) + (kRows - 1) / 2) / (kRows - 1));
  return rows;
}

}  // namespace assay::report
