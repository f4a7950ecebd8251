// SPDX-License-Identifier: Apache-2.0
#include "series_words.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/base/text.h>

namespace assay::report {
namespace {

constexpr double kWidth = 960, kHeight = 320, kLeft = 70, kBottom = 28, kTop = 10;
constexpr size_t kMostPoints = 2000;

constexpr const char* kStyle = R"css(
:root{color-scheme:light dark;--page:#fff;--ink:#1b1f24;--soft:#5b6570;--line:#e3e7eb;--card:#f6f8fa;--past:#0b6bcb;--next:#c2500a}
@media(prefers-color-scheme:dark){:root{--page:#14181d;--ink:#e4e8ec;--soft:#9aa5b1;--line:#2b323a;--card:#1b2128;--past:#5aa9f7;--next:#f0883e}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1080px;padding:24px;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
h1{font-size:20px;margin:0 0 4px;overflow-wrap:anywhere}p{margin:0 0 16px}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:16px;margin:0 0 16px;overflow-x:auto}
svg{display:block;width:100%;height:auto}svg text{fill:var(--soft);font-size:12px}.grid{stroke:var(--line)}
.past{fill:none;stroke:var(--past);stroke-width:1.3}.next{fill:none;stroke:var(--next);stroke-width:1.6}
.in80{fill:var(--next);fill-opacity:.25}.in95{fill:var(--next);fill-opacity:.13}.change{stroke:var(--soft);stroke-dasharray:4 4}
table{border-collapse:collapse;width:100%}td,th{text-align:right;padding:4px 8px;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}
td:first-child,th:first-child{text-align:left}dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 16px;margin:0}dt{color:var(--soft)}dd{margin:0}
)css";

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

/// From values to places in the picture.
struct Frame {
  double first = 0, last = 1, low = 0, high = 1;
  double x(double at) const {
    return kLeft + (at - first) / std::max(last - first, 1e-9) * (kWidth - kLeft - 10);
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
  if (!(frame.high > frame.low)) {
    frame.low -= 0.5;
    frame.high += 0.5;
  }
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

std::string grid(const SeriesView& view, const Frame& frame) {
  std::string out;
  for (int i = 0; i <= 4; ++i) {
    const double value = frame.low + (frame.high - frame.low) * i / 4;
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>",
        kLeft, kWidth - 10, frame.y(value), kLeft - 6, frame.y(value) + 4, format_number(value));
  }
  for (int i = 0; i <= 3; ++i) {
    const double at = std::floor(frame.last * i / 4);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>", frame.x(at), kHeight - 8,
                       escaped(place_text(view.series, at)));
  }
  for (const auto& change : view.analysis.changes)
    out +=
        fmt::format("<line class=\"change\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>",
                    frame.x(static_cast<double>(change.at)), kTop, kHeight - kBottom);
  return out;
}

std::string picture(const SeriesView& view) {
  const Frame frame = frame_of(view);
  const auto& points = view.analysis.forecast.points;
  using analysis::ForecastPoint;
  std::string out =
      fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\">{}", kWidth, kHeight, grid(view, frame));
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
  return out + fmt::format("<path class=\"past\" d=\"{}\"/></svg>", past_path(view, frame));
}

std::string forecast_table(const SeriesView& view) {
  const auto& points = view.analysis.forecast.points;
  if (points.empty()) return "";
  std::string out =
      "<section><table><tr><th>ahead</th><th>value</th><th>80 %</th><th>95 %</th></tr>";
  for (const size_t i : shown_points(points.size())) {
    const auto& point = points[i];
    out += fmt::format("<tr><td>{}</td><td>{}</td><td>{} to {}</td><td>{} to {}</td></tr>",
                       ahead_text(static_cast<double>(i + 1), view.series.step_seconds),
                       format_number(point.value), format_number(point.low80),
                       format_number(point.high80), format_number(point.low95),
                       format_number(point.high95));
  }
  return out + "</table></section>";
}

}  // namespace

std::string series_page(const SeriesView& view) {
  std::string findings;
  for (const auto& [head, line] : series_findings(view))
    findings += fmt::format("<dt>{}</dt><dd>{}</dd>", head, escaped(line));
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>{0}</title><style>{1}</style></head>\n"
      "<body><h1>{0}</h1><p>{2}.</p>\n<section>{3}</section>\n<section><dl>{4}</dl></section>\n{5}"
      "</body></html>\n",
      escaped(view.name), kStyle, escaped(series_answer(view)), picture(view), findings,
      forecast_table(view));
}

}  // namespace assay::report
