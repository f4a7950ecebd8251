// SPDX-License-Identifier: Apache-2.0
#include "json_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include <assay/placement/document.h>

namespace assay::placement {
namespace {

void put(JsonText& json, const std::vector<LeftOut>& list) {
  json.begin_list();
  for (const auto& one : list)
    json.begin_object().field("node", one.node).field("reason", one.reason).end_object();
  json.end_list();
}

/// Not known where either side is not.
std::optional<bool> memory_fits(const Ranked& one) {
  const Node& node = one.candidate.node;
  const bool known = node.memory_available || node.memory_bytes;
  if (!one.candidate.memory_needed || !known) return std::nullopt;
  return one.possible;
}

// Fields stand in the order of their names, as they do once they were read.
void put(JsonText& json, const Ranked& one, const Ranking& ranking) {
  const Candidate& candidate = one.candidate;
  const Node& node = candidate.node;
  std::optional<std::string_view> doubt;
  if (!candidate.doubt.empty()) doubt = candidate.doubt;
  json.begin_object()
      .field("class", node.kind)
      .field("device_model", node.model)
      .field("disk_used", node.disk_used)
      .field("doubt", doubt)
      .field("engine", candidate.engine)
      .field("goals_missed", one.missed)
      .field("idle_seconds", candidate.idle_seconds)
      .field("joules", candidate.joules)
      .field("load", node.load)
      .field("memory_available_bytes", node.memory_available)
      .field("memory_fits", memory_fits(one))
      .field("memory_needed_bytes", candidate.memory_needed)
      .field("node", node.name)
      .field("node_uuid", node.uuid)
      .key("quantiles")
      .begin_object()
      .field("0.1", candidate.low)
      .field("0.5", candidate.seconds)
      .field("0.9", candidate.high)
      .end_object()
      .field("reason", reason_for(one, ranking))
      .field("seconds", candidate.seconds)
      .field("total_seconds", candidate.total_seconds())
      .field("transfer_seconds", candidate.transfer_seconds)
      .end_object();
}

/// The fields of a ranking; the object stays open.
void begin(JsonText& json, const Ranking& ranking) {
  json.begin_object()
      .field("answer", ranking.answer)
      .field("clear", ranking.clear)
      .field("confidence", ranking.confidence)
      .key("devices")
      .begin_list();
  for (const auto& one : ranking.devices) put(json, one, ranking);
  json.end_list().key("left_out");
  put(json, ranking.left_out);
}

/// Where a model goes.
void put_place(JsonText& json, const Ranking& ranking, const Assigned& assigned) {
  json.key("node");
  if (!assigned.device) {
    json.put_null();
    return;
  }
  json.put(ranking.devices[*assigned.device].candidate.node.name)
      .key("together")
      .begin_object()
      .field("models_on_node", assigned.models)
      .field("total_seconds", assigned.seconds)
      .end_object();
}

/// "pi-1, pi-2, pi-3 and 7 more".
std::string some_of(const std::vector<std::string>& names) {
  constexpr size_t kMost = 3;
  const auto end = names.begin() + static_cast<ptrdiff_t>(std::min(names.size(), kMost));
  std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  if (names.size() > kMost) text += fmt::format(" and {} more", names.size() - kMost);
  return text;
}

}  // namespace

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} µs", 1e6 * seconds);
  if (seconds < 1) return fmt::format("{:.3g} ms", 1e3 * seconds);
  return fmt::format("{:.3g} s", seconds);
}

std::string ranking_json(const Ranking& ranking) {
  JsonText json;
  begin(json, ranking);
  return json.end_object().take();
}

std::string placements_json(const std::vector<std::string>& models,
                            const std::vector<Ranking>& rankings,
                            const std::vector<Assigned>& assigned) {
  JsonText json;
  json.begin_object().key("placements").begin_list();
  for (size_t i = 0; i < rankings.size(); ++i) {
    begin(json, rankings[i]);
    json.field("model", models[i]);
    put_place(json, rankings[i], assigned[i]);
    json.end_object();
  }
  return json.end_list().end_object().take();
}

std::string fleet_json(const Fleet& fleet) {
  JsonText json;
  json.begin_object().key("devices").begin_list();
  for (const auto& node : fleet.nodes)
    json.begin_object()
        .field("class", node.kind)
        .field("device_model", node.model)
        .field("disk_used", node.disk_used)
        .field("load", node.load)
        .field("memory_available_bytes", node.memory_available)
        .field("memory_bytes", node.memory_bytes)
        .field("node", node.name)
        .field("node_uuid", node.uuid)
        .end_object();
  json.end_list().key("left_out");
  put(json, fleet.left_out);
  return json.end_object().take();
}

std::string ranking_text(const std::string& model, const Ranking& ranking, bool color) {
  const char* const bold = color ? "\x1b[1m" : "";
  const char* const plain = color ? "\x1b[0m" : "";
  std::string text = fmt::format("{}{}: {}{}\n", bold, model, ranking.answer, plain);
  size_t name_width = 4;
  size_t engine_width = 6;
  for (const auto& one : ranking.devices) {
    name_width = std::max(name_width, one.candidate.node.name.size());
    engine_width = std::max(engine_width, one.candidate.engine.size());
  }
  if (!ranking.devices.empty())
    text += fmt::format("\n  {:<{}}  {:>9}  {:^21}  {:>5}  {:<{}}  why\n", "node", name_width,
                        "time", "4 of 5 times", "busy", "engine", engine_width);
  std::vector<std::pair<std::string, std::vector<std::string>>> doubts;  // and who has each
  for (const auto& one : ranking.devices) {
    const Candidate& candidate = one.candidate;
    text +=
        fmt::format("  {:<{}}  {:>9}  {:>9} to {:>8}  {:>3.0f} %  {:<{}}  {}\n",
                    candidate.node.name, name_width, time_text(candidate.seconds),
                    time_text(candidate.low), time_text(candidate.high), 100 * candidate.node.load,
                    candidate.engine, engine_width, reason_for(one, ranking));
    if (candidate.doubt.empty()) continue;
    auto same = std::find_if(doubts.begin(), doubts.end(),
                             [&](const auto& doubt) { return doubt.first == candidate.doubt; });
    if (same == doubts.end()) same = doubts.insert(doubts.end(), {candidate.doubt, {}});
    same->second.push_back(candidate.node.name);
  }
  for (const auto& [doubt, nodes] : doubts)
    text += nodes.size() == ranking.devices.size()
                ? fmt::format("\nDoubt: {}\n", doubt)
                : fmt::format("\nDoubt about {}: {}\n", some_of(nodes), doubt);
  if (!ranking.left_out.empty()) text += "\nLeft out:\n";
  for (const auto& one : ranking.left_out) text += fmt::format("  {}: {}\n", one.node, one.reason);
  return text;
}

}  // namespace assay::placement
