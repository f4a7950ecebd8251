// SPDX-License-Identifier: Apache-2.0
#include "decimate.h"
#include "labels.h"
#include "page_template.h"

#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>

#include <assay/report/report.h>

namespace assay::report {
namespace {

constexpr size_t kPlotPoints = 4000;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Seconds since the run's start with milliseconds, and values with six digits, keep the page
/// small.
void append_points(std::string& out, const Series& series, Timestamp start) {
  auto at = std::back_inserter(out);
  out += "\"t\":[";
  for (size_t i = 0; i < series.times.size(); ++i) {
    fmt::format_to(at, "{}{:.7g}", i == 0 ? "" : ",",
                   std::round(seconds(series.times[i] - start) * 1000) / 1000);
  }
  out += "],\"v\":[";
  for (size_t i = 0; i < series.values.size(); ++i) {
    fmt::format_to(at, "{}{:.6g}", i == 0 ? "" : ",", series.values[i]);
  }
  out += "]";
}

std::string series_json(const Series& raw, Timestamp start) {
  const Series shown = analysis::as_shown(raw);
  const Series points = decimated(shown, kPlotPoints);
  const SeriesInfo& info = shown.info;
  Json json = {{"name", info.name},
               {"title", title_of(info.name)},
               {"unit", info.unit},
               {"kind", to_string(raw.info.kind)},
               {"scope", to_string(info.scope)},
               {"source", info.source},
               {"labels", info.labels},
               {"samples", shown.times.size()}};
  if (const Metric* metric = find_metric(info.name)) json["help"] = metric->help;
  std::string out = dump(json);
  out.back() = ',';
  append_points(out, points, start);
  return out + "}";
}

Result<std::string> run_series(const SessionView::Run& run, Timestamp start) {
  std::string out = "[";
  const size_t count = run.samples ? run.samples->list().size() : 0;
  for (size_t i = 0; i < count; ++i) {
    ASSAY_TRY(const Series series, run.samples->read(i));
    if (series.times.empty()) continue;
    if (out.size() > 1) out += ",\n";
    out += series_json(series, start);
  }
  return out + "]";
}

Json run_words(const SessionView& view) {
  const auto labels = run_labels(view.session);
  Json list = Json::array();
  for (size_t i = 0; i < labels.size(); ++i) {
    const RunRecord& run = view.session.runs[i];
    Json goals = Json::array();
    for (const auto& g : analysis_of(view, i).goals) {
      goals.push_back(goal_value(g));
    }
    Json words = {{"label", labels[i]},
                  {"status", status_words(run)},
                  {"ran_well", ran_well(run)},
                  {"goal_values", goals}};
    const std::string& disturbance = analysis_of(view, i).disturbance;
    if (!disturbance.empty()) words["disturbance"] = disturbance;
    if (i < view.runs.size() && !view.runs[i].last_words.empty()) {
      words["last_words"] = view.runs[i].last_words;
    }
    list.push_back(words);
  }
  return list;
}

Json titles(const SessionView& view) {
  Json json = Json::object();
  for (const auto& run : view.runs) {
    for (const auto* list : {&run.analysis.footprint, &run.analysis.node}) {
      for (const auto& [name, d] : *list)
        json[name] = {{"title", title_of(name)}, {"main", is_main(name)}};
    }
  }
  return json;
}

/// '<' occurs only inside of strings, where its escape means the same: the data cannot end the
/// element that holds it.
std::string without_markup(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Result<std::string> html_page(const SessionView& view) {
  std::string data = "{\"document\":" + dump(session_document(view)) +
                     ",\n\"words\":" + dump(run_words(view)) +
                     ",\n\"titles\":" + dump(titles(view)) + ",\n\"series\":[";
  for (size_t i = 0; i < view.session.runs.size(); ++i) {
    if (i > 0) data += ",\n";
    if (i >= view.runs.size()) {
      data += "[]";
      continue;
    }
    ASSAY_TRY(const std::string series, run_series(view.runs[i], view.session.runs[i].started));
    data += series;
  }
  data += "]}";
  std::string page;
  for (const auto piece : page_before_data()) page += piece;
  page += without_markup(data);
  for (const auto piece : page_after_data()) page += piece;
  return page;
}

}  // namespace assay::report
