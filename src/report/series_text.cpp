// SPDX-License-Identifier: Apache-2.0
#include "layout.h"
#include "series_words.h"
#include "text_plot.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>

namespace assay::report {
namespace {

constexpr size_t kPlotLines = 8;
constexpr const char *kBold = "\033[1m", *kBlue = "\033[34m", *kPlain = "\033[0m";

/// How much of the series stands beside the forecast: of a long one its end, so that both are seen.
std::vector<double> shown_values(const SeriesView& view) {
  const auto& values = view.series.values;
  const size_t ahead = view.analysis.forecast.points.size();
  const size_t most = ahead ? std::max<size_t>(200, 12 * ahead) : values.size();
  return {values.end() - static_cast<ptrdiff_t>(std::min(most, values.size())), values.end()};
}

/// Where the past begins and where it ends; only the end where there is no room for both.
std::string ends_text(const std::string& begin, const std::string& end, size_t room) {
  if (display_width(begin) + display_width(end) < room)
    return left(begin, room - display_width(end)) + end;
  return right(fitted(end, room), room);
}

std::string plot_text(const SeriesView& view, bool color, size_t columns) {
  const auto past = shown_values(view);
  const auto& points = view.analysis.forecast.points;
  std::vector<double> ahead;
  ahead.reserve(points.size());
  for (const auto& point : points) ahead.push_back(point.value);
  std::vector<double> all = past;
  all.insert(all.end(), ahead.begin(), ahead.end());
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const double value : all)
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (!std::isfinite(low) || all.size() < 2) return "";
  // Of a constant one line tells all, with the only value there is.
  const bool flat = is_flat(low, high);
  const size_t lines = flat ? 1 : kPlotLines;
  const auto labels = axis_texts(flat ? std::vector{high} : std::vector{low, high});
  const auto &bottom = labels.front(), &top = labels.back();
  if (flat) {
    low -= 1 + std::abs(low);
    high += 1 + std::abs(high);
  }
  const size_t margin = std::max(display_width(top), display_width(bottom));
  const size_t width = std::max<size_t>(20, columns - std::min(columns, margin + 6));
  // Each has a quarter at least of a narrow plot, however long the other is.
  const size_t share = width * ahead.size() / (ahead.size() + past.size());
  const size_t for_ahead = ahead.empty() ? 0 : std::clamp<size_t>(share, 6, width - width / 4);
  const auto left_plot = dot_plot(dot_columns(past, 2 * (width - for_ahead)), low, high, lines);
  const auto right_plot = dot_plot(dot_columns(ahead, 2 * for_ahead), low, high, lines);
  std::string text;
  for (size_t line = 0; line < lines; ++line) {
    const auto label = line == 0 ? top : line + 1 == lines ? bottom : "";
    text += fmt::format("  {} {}┊{}{}{}\n", right(label, margin), left_plot[line],
                        color ? kBlue : "", right_plot[line], color ? kPlain : "");
  }
  const auto begin = static_cast<double>(view.series.values.size() - past.size());
  text += "  " + std::string(margin, ' ') + " " +
          ends_text(place_text(view.series, begin), end_text(view), width - for_ahead + 1) + "\n";
  return text;
}

std::string points_text(const SeriesView& view) {
  const auto& points = view.analysis.forecast.points;
  const NumberTexts number(view);
  std::vector<std::vector<std::string>> rows = {{"ahead", "value", "80 %", "95 %"}};
  for (const size_t i : shown_points(points.size())) {
    const auto& point = points[i];
    rows.push_back({ahead_text(static_cast<double>(i + 1), view.series.step_seconds),
                    number(point.value), number.range(point.low80, point.high80),
                    number.range(point.low95, point.high95)});
  }
  std::string text;
  for (const auto& line : table(rows)) text += "  " + line + "\n";
  return text;
}

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json forecast_json(const SeriesView& view) {
  const auto& forecast = view.analysis.forecast;
  Json points = Json::array(), methods = Json::array();
  const size_t behind = view.series.values.size();
  for (size_t i = 0; i < forecast.points.size(); ++i) {
    const auto& point = forecast.points[i];
    Json one = {{"ahead", i + 1},
                {"value", number_or_null(point.value)},
                {"low80", number_or_null(point.low80)},
                {"high80", number_or_null(point.high80)},
                {"low95", number_or_null(point.low95)},
                {"high95", number_or_null(point.high95)}};
    if (view.series.step_seconds > 0) one["time"] = view.series.time(behind + i);
    points.push_back(std::move(one));
  }
  for (const auto& method : forecast.methods)
    methods.push_back({{"name", method.name},
                       {"weight", method.weight},
                       {"error", number_or_null(method.error)}});
  return {{"horizon", forecast.points.size()}, {"points", points}, {"methods", methods}};
}

Json possible_json(const analysis::SeriesAnalysis& found, double step) {
  Json one = {{"period", found.possible_cycle}};
  if (step > 0) one["period_seconds"] = found.possible_cycle * step;
  return one;
}

}  // namespace

Json series_document(const SeriesView& view) {
  const auto& found = view.analysis;
  const double step = view.series.step_seconds;
  Json cycles = Json::array(), changes = Json::array();
  for (const auto& cycle : found.cycles) {
    Json one = {{"period", cycle.period}, {"confidence", cycle.confidence}, {"share", cycle.share}};
    if (step > 0) one["period_seconds"] = cycle.period * step;
    cycles.push_back(std::move(one));
  }
  for (const auto& change : found.changes) {
    Json one = {{"at", change.at}, {"before", change.before}, {"after", change.after}};
    if (step > 0) one["time"] = view.series.time(change.at);
    changes.push_back(std::move(one));
  }
  Json document = {{"schema", 1},
                   {"series", view.name},
                   {"answer", series_answer(view)},
                   {"count", view.series.values.size()},
                   {"missing", view.series.values.size() - found.summary.known},
                   {"summary",
                    {{"min", found.summary.min},
                     {"mean", found.summary.mean},
                     {"p50", found.summary.p50},
                     {"p95", found.summary.p95},
                     {"max", found.summary.max}}},
                   {"cycles", cycles},
                   {"class", found.use ? Json(analysis::to_string(*found.use)) : Json(nullptr)},
                   {"change_points", changes},
                   {"forecast", forecast_json(view)}};
  if (found.possible_cycle > 0) document["possible_cycle"] = possible_json(found, step);
  if (found.odd_end > 0) document["odd_end"] = found.odd_end;
  if (found.season) document["season"] = *found.season;
  if (view.series.marked) document["missing_marked"] = view.series.marked;
  if (!view.series.columns.empty()) document["columns"] = view.series.columns;
  if (view.series.rows > 0) document["rows"] = view.series.rows;
  if (step > 0) {
    document["start"] = view.series.start;
    document["step_seconds"] = step;
    if (view.series.months > 0) document["step_months"] = view.series.months;
  }
  return document;
}

std::string series_text(const SeriesView& view, bool color, size_t columns) {
  // Beside a long query there would be no room.
  constexpr size_t kLongName = 36;
  std::string text = display_width(view.name) > kLongName
                         ? view.name + ":\n" + wrapped("  ", series_answer(view), columns)
                         : wrapped(view.name + ": ", series_answer(view), columns);
  if (color) text = kBold + text + kPlain;
  text += "\n" + plot_text(view, color, columns) + "\n";
  for (const auto& [head, line] : series_findings(view))
    text += wrapped("  " + left(head, 9), line, columns);
  if (!view.analysis.forecast.points.empty()) text += "\n" + points_text(view);
  return text;
}

}  // namespace assay::report
