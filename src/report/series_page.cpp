// SPDX-License-Identifier: Apache-2.0
#include "series_picture.h"
#include "series_words.h"

#include <fmt/format.h>

#include <assay/base/text.h>

namespace assay::report {
namespace {

constexpr const char* kStyle = R"css(
:root{color-scheme:light dark;--page:#fff;--ink:#1b1f24;--soft:#5b6570;--line:#e3e7eb;--card:#f6f8fa;--past:#0b6bcb;--next:#c2500a}
@media(prefers-color-scheme:dark){:root{--page:#14181d;--ink:#e4e8ec;--soft:#9aa5b1;--line:#2b323a;--card:#1b2128;--past:#5aa9f7;--next:#f0883e}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1080px;padding:24px;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
h1{font-size:20px;margin:0 0 4px;overflow-wrap:anywhere}p{margin:0 0 16px}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:16px;margin:0 0 16px;overflow-x:auto}
svg{display:block;width:100%;height:auto}svg text{fill:var(--soft);font-size:12px}.grid{stroke:var(--line)}
.past{fill:none;stroke:var(--past);stroke-width:1.3}.next{fill:none;stroke:var(--next);stroke-width:1.6}
.in80{fill:var(--next);fill-opacity:.25}.in95{fill:var(--next);fill-opacity:.13}.change{stroke:var(--soft);stroke-dasharray:4 4}.end{stroke:var(--soft)}.tick{stroke:var(--soft)}
.legend{display:flex;flex-wrap:wrap;gap:4px 20px;margin:0 0 8px;color:var(--soft);font-size:13px}.legend svg{display:inline-block;width:26px;height:12px;margin-right:6px;vertical-align:-1px}
table{border-collapse:collapse;width:100%}td,th{text-align:right;padding:4px 8px;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}
td:first-child,th:first-child{text-align:left}dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 16px;margin:0}dt{color:var(--soft)}dd{margin:0}
)css";

std::string forecast_table(const SeriesView& view) {
  const auto& points = view.analysis.forecast.points;
  if (points.empty()) return "";
  const NumberTexts number(view);
  std::string out =
      "<section><table><tr><th>ahead</th><th>value</th><th>80 %</th><th>95 %</th></tr>";
  for (const size_t i : shown_points(points.size())) {
    const auto& point = points[i];
    out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                       ahead_text(static_cast<double>(i + 1), view.series.step_seconds),
                       number(point.value), number.range(point.low80, point.high80),
                       number.range(point.low95, point.high95));
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
      escaped(view.name), kStyle, escaped(series_answer(view)), series_picture(view), findings,
      forecast_table(view));
}

}  // namespace assay::report
