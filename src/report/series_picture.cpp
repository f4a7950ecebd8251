// SPDX-License-Identifier: Apache-2.0
#include "series_picture.h"

#include "series_words.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/base/time.h>

namespace assay::report {
namespace {

constexpr double kWidth = 960, kHeight = 340, kLeft = 70, kRight = 14, kBottom = 44, kTop = 22;
constexpr size_t kMostPoints = 2000;
constexpr size_t kMostTicks = 6;

/// From values to places in the picture.
struct Frame {
  double first = 0, last = 1, low = 0, high = 1;
  double x(double at) const {
    return kLeft + (at - first) / std::max(last - first, 1e-9) * (kWidth - kLeft - kRight);
  }
  double y(double value) const {
    return kTop + (high - value) / (high - low) * (kHeight - kTop - kBottom);
  }
};

Frame frame_of(const SeriesView& view) {
  const auto& values = view.series.values;
  const auto& points = view.analysis.forecast.points;
  Frame frame;
  frame.last = static_cast<double>(values.size() + points.size());
  frame.low = view.analysis.summary.min;
  frame.high = view.analysis.summary.max;
  for (const auto& point : points) {
    frame.low = std::min(frame.low, point.low95);
    frame.high = std::max(frame.high, point.high95);
  }
  if (is_flat(frame.low, frame.high)) {
    // A line in the middle, and zero beside it to see how much it is.
    const double value = frame.high;
    frame.low = value > 0 ? 0 : value < 0 ? 2 * value : -1;
    frame.high = value > 0 ? 2 * value : value < 0 ? 0 : 1;
  }
  // Round numbers at both ends, so that each line of the grid has one.
  const auto ticks = round_ticks(frame.low, frame.high, kMostTicks);
  const double step = ticks[1] - ticks[0];
  if (frame.low < ticks.front()) frame.low = ticks.front() - step;
  if (frame.high > ticks.back()) frame.high = ticks.back() + step;
  return frame;
}

/// At most so many points; of each stretch the smallest and the largest, so that peaks stay.
std::string past_path(const SeriesView& view, const Frame& frame) {
  const auto& values = view.series.values;
  const size_t stretch = std::max<size_t>(1, 2 * values.size() / kMostPoints);
  std::string path;
  bool pen_down = false;
  const auto draw = [&](size_t i) {
    path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", frame.x(static_cast<double>(i)),
                        frame.y(values[i]));
    pen_down = true;
  };
  for (size_t from = 0; from < values.size(); from += stretch) {
    const size_t to = std::min(values.size(), from + stretch);
    size_t least = to, most = to;
    for (size_t i = from; i < to; ++i) {
      if (!std::isfinite(values[i])) continue;
      if (least == to || values[i] < values[least]) least = i;
      if (most == to || values[i] > values[most]) most = i;
    }
    if (least == to) {
      pen_down = false;
      continue;
    }
    draw(std::min(least, most));
    if (least != most) draw(std::max(least, most));
  }
  return path;
}

std::string band(const SeriesView& view, const Frame& frame, double analysis::ForecastPoint::*low,
                 double analysis::ForecastPoint::*high) {
  const auto& points = view.analysis.forecast.points;
  const auto base = static_cast<double>(view.series.values.size());
  std::string path;
  for (size_t i = 0; i < points.size(); ++i)
    path += fmt::format("{}{:.1f} {:.1f}", i ? "L" : "M", frame.x(base + static_cast<double>(i)),
                        frame.y(points[i].*high));
  for (size_t i = points.size(); i-- > 0;)
    path += fmt::format("L{:.1f} {:.1f}", frame.x(base + static_cast<double>(i)),
                        frame.y(points[i].*low));
  return path + "Z";
}

/// Longer ones follow the calendar.
constexpr double kLongestStep = 28 * 86400.0;

/// A step of time that people count in, so that at most `most` are in so many seconds.
double round_time_step(double seconds, size_t most) {
  constexpr double kMinute = 60, kHour = 3600, kDay = 86400;
  constexpr double kSteps[] = {
      1,        2,           5,           10,           15,           30,
      kMinute,  2 * kMinute, 5 * kMinute, 10 * kMinute, 15 * kMinute, 30 * kMinute,
      kHour,    2 * kHour,   3 * kHour,   6 * kHour,    12 * kHour,   kDay,
      2 * kDay, 7 * kDay,    14 * kDay,   kLongestStep};
  for (const double step : kSteps)
    if (seconds / step <= static_cast<double>(most)) return step;
  constexpr double kYear = 365.25 * kDay;
  for (double years = 0.25;; years *= 2)
    if (seconds / (years * kYear) <= static_cast<double>(most)) return years * kYear;
}

struct Tick {
  double at;           ///< in samples
  std::string text;    ///< "12:30", "20 min in", "400"
  std::string second;  ///< a date below it, where it is another one than before
};

/// Where quarters, years or decades of the calendar begin.
std::vector<Tick> calendar_ticks(const analysis::EvenSeries& series, double samples) {
  using namespace std::chrono;
  constexpr double kDay = 86400, kMonth = analysis::kSecondsOfYear / 12;
  const double months = samples * series.step_seconds / kMonth;
  int apart = 1200;
  for (const int some : {3, 6, 12, 24, 60, 120, 240, 600})
    if (months / some <= static_cast<double>(kMostTicks)) {
      apart = some;
      break;
    }
  std::vector<Tick> ticks;
  const sys_days start(days(static_cast<int>(std::floor(series.start / kDay))));
  const int first = static_cast<int>(year_month_day(start).year()) * 12 / apart * apart;
  for (int month = first;; month += apart) {
    const sys_days day(year(month / 12) / (month % 12 + 1) / 1);
    const double time = kDay * static_cast<double>(day.time_since_epoch().count());
    const double at = (time - series.start) / series.step_seconds;
    if (at > samples) return ticks;
    if (at >= 0) ticks.push_back({at, utc_text(time).substr(0, 10), ""});
  }
}

std::vector<Tick> dated_ticks(const analysis::EvenSeries& series, double samples) {
  constexpr double kDay = 86400;
  const double step = round_time_step(samples * series.step_seconds, kMostTicks);
  if (step > kLongestStep) return calendar_ticks(series, samples);
  std::vector<Tick> ticks;
  std::string day;
  const double end = series.start + samples * series.step_seconds;
  const double first = std::ceil(series.start / step) * step;
  for (size_t i = 0; first + static_cast<double>(i) * step <= end; ++i) {
    const double time = first + static_cast<double>(i) * step;
    const auto text = utc_text(time);
    const auto date = text.substr(0, 10), clock = text.substr(11, step < 60 ? 8 : 5);
    const double at = (time - series.start) / series.step_seconds;
    ticks.push_back(step >= kDay ? Tick{at, date, ""} : Tick{at, clock, date == day ? "" : date});
    day = date;
  }
  return ticks;
}

std::vector<Tick> year_ticks(const analysis::EvenSeries& series, double samples) {
  std::vector<Tick> ticks;
  const int first = series.year(0);
  const double apart = series.step_seconds / analysis::kSecondsOfYear;
  for (const double year : round_ticks(first, first + samples * apart, kMostTicks))
    if (year == std::round(year))
      ticks.push_back({(year - first) / apart, fmt::format("{}", year), ""});
  return ticks;
}

std::vector<Tick> ticks_of(const analysis::EvenSeries& series, double samples) {
  if (series.years) return year_ticks(series, samples);
  if (is_dated(series) && series.start + samples * series.step_seconds < kLatestDate)
    return dated_ticks(series, samples);
  std::vector<Tick> ticks;
  if (series.step_seconds > 0) {
    const double step = round_time_step(samples * series.step_seconds, kMostTicks);
    const double apart = step / series.step_seconds;
    for (size_t i = 0; static_cast<double>(i) * apart <= samples; ++i) {
      const double at = static_cast<double>(i) * apart;
      ticks.push_back({at, ahead_text(at, series.step_seconds), ""});
    }
    return ticks;
  }
  for (const double at : round_ticks(0, samples, kMostTicks))
    ticks.push_back({at, format_number(at), ""});
  return ticks;
}

std::string vertical(const char* look, double x) {
  return fmt::format("<line class=\"{0}\" x1=\"{1:.1f}\" x2=\"{1:.1f}\" y1=\"{2}\" y2=\"{3}\"/>",
                     look, x, kTop, kHeight - kBottom);
}

/// Below a tick; those at the right edge end there.
std::string below(double x, double y, const std::string& text) {
  constexpr double kHalf = 36;
  const bool fits = x + kHalf < kWidth;
  return fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{}</text>",
                     fits ? x : kWidth - 2.0, y, fits ? "middle" : "end", escaped(text));
}

std::string grid(const SeriesView& view, const Frame& frame) {
  std::string out;
  const auto values = round_ticks(frame.low, frame.high, kMostTicks);
  const auto texts = axis_texts(values);
  for (size_t i = 0; i < values.size(); ++i)
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>",
        kLeft, kWidth - kRight, frame.y(values[i]), kLeft - 8, frame.y(values[i]) + 4, texts[i]);
  constexpr double kAxis = kHeight - kBottom;
  for (const auto& tick : ticks_of(view.series, frame.last)) {
    const double x = frame.x(tick.at);
    out += fmt::format("<line class=\"tick\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>",
                       x, kAxis, kAxis + 5) +
           below(x, kAxis + 18, tick.text);
    if (!tick.second.empty()) out += below(x, kAxis + 34, tick.second);
  }
  for (const auto& change : view.analysis.changes)
    out += vertical("change", frame.x(static_cast<double>(change.at)));
  return out;
}

/// Where the past ends, and when that was.
std::string end_line(const SeriesView& view, const Frame& frame) {
  const double x = frame.x(static_cast<double>(view.series.values.size()) - 1);
  return vertical("end", x) +
         fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"end\">{}</text>", x + 4, kTop - 8,
                     escaped(end_text(view)));
}

std::string legend_item(const char* drawing, const char* text) {
  return fmt::format("<span><svg viewBox=\"0 0 26 12\">{}</svg>{}</span>", drawing, text);
}

std::string legend(const SeriesView& view) {
  std::string out = legend_item("<path class=\"past\" d=\"M0 6L26 6\"/>", "values");
  if (!view.analysis.forecast.points.empty()) {
    out += legend_item("<path class=\"next\" d=\"M0 6L26 6\"/>", "forecast");
    out += legend_item("<rect class=\"in80\" width=\"26\" height=\"12\"/>", "80 % interval");
    out += legend_item("<rect class=\"in95\" width=\"26\" height=\"12\"/>", "95 % interval");
  }
  if (!view.analysis.changes.empty())
    out += legend_item("<path class=\"change\" d=\"M0 6L26 6\"/>", "the level changed");
  if (is_dated(view.series)) out += "<span>times are UTC</span>";
  return fmt::format("<p class=\"legend\">{}</p>", out);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::vector<double> round_ticks(double low, double high, size_t most) {
  const double rough = (high - low) / static_cast<double>(most);
  const double magnitude = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * magnitude;
  for (const double one : {1.0, 2.0, 2.5, 5.0})
    if (one * magnitude >= rough * (1 - 1e-9)) {
      step = one * magnitude;
      break;
    }
  // Beyond what numbers can tell apart there are no round ones between.
  if (!(step > 1e-12 * std::max(std::abs(low), std::abs(high)))) return {low, high};
  std::vector<double> ticks;
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i)
    ticks.push_back(i * step + 0.0);
  return ticks;
}

std::string series_picture(const SeriesView& view) {
  const Frame frame = frame_of(view);
  const auto& points = view.analysis.forecast.points;
  using analysis::ForecastPoint;
  std::string out = legend(view) + fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\">{}", kWidth,
                                               kHeight, grid(view, frame));
  if (!points.empty()) {
    out += fmt::format("<path class=\"in95\" d=\"{}\"/><path class=\"in80\" d=\"{}\"/>",
                       band(view, frame, &ForecastPoint::low95, &ForecastPoint::high95),
                       band(view, frame, &ForecastPoint::low80, &ForecastPoint::high80));
    std::string path;
    const auto base = static_cast<double>(view.series.values.size());
    for (size_t i = 0; i < points.size(); ++i)
      path += fmt::format("{}{:.1f} {:.1f}", i ? "L" : "M", frame.x(base + static_cast<double>(i)),
                          frame.y(points[i].value));
    out += fmt::format("<path class=\"next\" d=\"{}\"/>", path);
  }
  return out + end_line(view, frame) +
         fmt::format("<path class=\"past\" d=\"{}\"/></svg>", past_path(view, frame));
}

}  // namespace assay::report
