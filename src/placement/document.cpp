// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/placement/document.h>

namespace assay::placement {
namespace {

using nlohmann::json;

template <class Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

json left_out_of(const std::vector<LeftOut>& list) {
  json result = json::array();
  for (const auto& one : list) result.push_back({{"node", one.node}, {"reason", one.reason}});
  return result;
}

/// Not known where either side is not.
json memory_fits(const Ranked& one) {
  const Node& node = one.candidate.node;
  if (!one.candidate.memory_needed || !(node.memory_available || node.memory_bytes)) return nullptr;
  return one.possible;
}

json device_of(const Ranked& one) {
  const Candidate& candidate = one.candidate;
  return {
      {"node", candidate.node.name},
      {"node_uuid", candidate.node.uuid},
      {"class", candidate.node.kind},
      {"device_model", candidate.node.model},
      {"engine", candidate.engine},
      {"load", candidate.node.load},
      {"disk_used", or_null(candidate.node.disk_used)},
      {"seconds", candidate.seconds},
      {"quantiles", {{"0.1", candidate.low}, {"0.5", candidate.seconds}, {"0.9", candidate.high}}},
      {"idle_seconds", candidate.idle_seconds},
      {"transfer_seconds", or_null(candidate.transfer_seconds)},
      {"total_seconds", candidate.total_seconds()},
      {"memory_needed_bytes", or_null(candidate.memory_needed)},
      {"memory_available_bytes", or_null(candidate.node.memory_available)},
      {"memory_fits", memory_fits(one)},
      {"joules", or_null(candidate.joules)},
      {"goals_missed", one.missed},
      {"doubt", candidate.doubt.empty() ? json(nullptr) : json(candidate.doubt)},
      {"reason", one.reason}};
}

}  // namespace

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} µs", 1e6 * seconds);
  if (seconds < 1) return fmt::format("{:.3g} ms", 1e3 * seconds);
  return fmt::format("{:.3g} s", seconds);
}

json ranking_document(const Ranking& ranking) {
  json devices = json::array();
  for (const auto& one : ranking.devices) devices.push_back(device_of(one));
  return {{"answer", ranking.answer},
          {"clear", ranking.clear},
          {"confidence", or_null(ranking.confidence)},
          {"devices", std::move(devices)},
          {"left_out", left_out_of(ranking.left_out)}};
}

json placements_document(const std::vector<std::string>& models,
                         const std::vector<Ranking>& rankings,
                         const std::vector<Assigned>& assigned) {
  json list = json::array();
  for (size_t i = 0; i < rankings.size(); ++i) {
    json one = ranking_document(rankings[i]);
    one["model"] = models[i];
    one["node"] = nullptr;
    if (assigned[i].device) {
      one["node"] = rankings[i].devices[*assigned[i].device].candidate.node.name;
      one["together"] = {{"models_on_node", assigned[i].models},
                         {"total_seconds", assigned[i].seconds}};
    }
    list.push_back(std::move(one));
  }
  return {{"placements", std::move(list)}};
}

json fleet_document(const Fleet& fleet) {
  json nodes = json::array();
  for (const auto& node : fleet.nodes) {
    nodes.push_back({{"node", node.name},
                     {"node_uuid", node.uuid},
                     {"class", node.kind},
                     {"device_model", node.model},
                     {"load", node.load},
                     {"disk_used", or_null(node.disk_used)},
                     {"memory_bytes", or_null(node.memory_bytes)},
                     {"memory_available_bytes", or_null(node.memory_available)}});
  }
  return {{"devices", std::move(nodes)}, {"left_out", left_out_of(fleet.left_out)}};
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
  std::vector<std::string> doubts;
  for (const auto& one : ranking.devices) {
    const Candidate& candidate = one.candidate;
    text += fmt::format("  {:<{}}  {:>9}  {:>9} to {:>8}  {:>3.0f} %  {:<{}}  {}\n",
                        candidate.node.name, name_width, time_text(candidate.seconds),
                        time_text(candidate.low), time_text(candidate.high),
                        100 * candidate.node.load, candidate.engine, engine_width, one.reason);
    if (!candidate.doubt.empty() &&
        std::find(doubts.begin(), doubts.end(), candidate.doubt) == doubts.end())
      doubts.push_back(candidate.doubt);
  }
  for (const auto& doubt : doubts) text += fmt::format("\nDoubt: {}\n", doubt);
  if (!ranking.left_out.empty()) text += "\nLeft out:\n";
  for (const auto& one : ranking.left_out) text += fmt::format("  {}: {}\n", one.node, one.reason);
  return text;
}

}  // namespace assay::placement
