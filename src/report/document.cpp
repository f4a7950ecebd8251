// SPDX-License-Identifier: Apache-2.0
#include "labels.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include <assay/report/report.h>

namespace assay::report {
namespace {

using Distributions = std::vector<std::pair<std::string, analysis::Distribution>>;

bool is_finite(const analysis::Distribution& d) {
  return std::isfinite(d.mean) && std::isfinite(d.p50) && std::isfinite(d.p95) &&
         std::isfinite(d.p99) && std::isfinite(d.peak) && std::isfinite(d.min);
}

Json distribution_json(const analysis::Distribution& d) {
  return {{"mean", d.mean},   {"p50", d.p50},   {"p95", d.p95},
          {"p99", d.p99},     {"peak", d.peak}, {"min", d.min},
          {"count", d.count}, {"unit", d.unit}, {"source", d.source}};
}

/// JSON has no infinity: a line that is not finite is left out, as if it had not been measured.
Json distributions_json(const Distributions& list) {
  Json json = Json::object();
  for (const auto& [name, d] : list) {
    if (is_finite(d)) json[name] = distribution_json(d);
  }
  return json;
}

Json goals_json(const analysis::RunAnalysis& analysis) {
  Json list = Json::array();
  for (const auto& result : analysis.goals) {
    Json json = {{"goal", goal_text(result.goal)}};
    if (result.value && std::isfinite(*result.value)) json["value"] = *result.value;
    json["met"] = result.met;
    json["metric"] = result.goal.metric;
    json["statistic"] = result.goal.statistic;
    const std::string& unit = result.unit;
    if (!unit.empty()) json["unit"] = unit;
    list.push_back(json);
  }
  return list;
}

Json advice_json(const std::vector<analysis::Advice>& advice) {
  Json list = Json::array();
  for (const auto& a : advice) {
    list.push_back({{"finding", a.finding}, {"evidence", a.evidence}, {"action", a.action}});
  }
  return list;
}

/// The record's own list of processes is kept.
void put_other_load(Json& json, const analysis::RunAnalysis& analysis) {
  if (analysis.disturbed) json["disturbed"] = *analysis.disturbed;
  if (!analysis.others.empty()) json["other_load"].update(distributions_json(analysis.others));
}

void put_needs(Json& json, const analysis::RunAnalysis& analysis) {
  for (const auto& [name, lines] : analysis.needs) json["needs"][name] = distributions_json(lines);
}

Json run_json(const RunRecord& run, const analysis::RunAnalysis& analysis) {
  Json json = to_json(run);
  if (run.ended < run.started) {
    json.erase("ended_unix_ns");
    json.erase("duration_seconds");
  }
  json["answer"] = analysis.answer;
  json["footprint"] = distributions_json(analysis.footprint);
  json["node"] = distributions_json(analysis.node);
  put_needs(json, analysis);
  put_other_load(json, analysis);
  json["metrics"] = distributions_json(analysis.metrics);
  json["goals"] = goals_json(analysis);
  json["advice"] = advice_json(analysis.advice);
  return json;
}

}  // namespace

Json session_document(const SessionView& view) {
  Json json = to_json(view.session);
  for (size_t i = 0; i < view.session.runs.size(); ++i) {
    json["runs"][i] = run_json(view.session.runs[i], analysis_of(view, i));
    json["runs"][i]["state_differences"] = unlike_first(view, i);
  }
  // Arguments and names may hold any bytes; the round trip leaves only valid UTF-8.
  return Json::parse(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace assay::report
