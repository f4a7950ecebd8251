// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/placement/workers.h>

namespace assay::placement {
namespace {

using nlohmann::json;

const char* word_of(Worker::State state) {
  switch (state) {
    case Worker::State::starting:
      return "starting";
    case Worker::State::running:
      return "running";
    case Worker::State::ended:
      break;
  }
  return "ended";
}

std::vector<Worker> by_age(std::vector<Worker> list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const Worker& a, const Worker& b) { return a.since < b.since; });
  return list;
}

}  // namespace

void Workers::add(const std::vector<Worker>& more) {
  for (const auto& one : more) {
    const bool known = std::any_of(list.begin(), list.end(),
                                   [&](const Worker& other) { return other.name == one.name; });
    if (!known) list.push_back(one);
  }
}

json workers_document(const Workers& workers) {
  json list = json::array();
  for (const auto& one : by_age(workers.list))
    list.push_back({{"worker", one.name},
                    {"model", one.model},
                    {"node", one.node},
                    {"state", word_of(one.state)},
                    {"since", one.since ? json(format_utc(*one.since)) : json(nullptr)}});
  json not_asked = json::array();
  for (const auto& one : workers.not_asked)
    not_asked.push_back({{"node", one.node}, {"reason", one.reason}});
  return {{"deployments", std::move(list)}, {"not_asked", std::move(not_asked)}};
}

std::string workers_text(const Workers& workers) {
  if (workers.list.empty()) return "no worker is there\n";
  size_t name = 4;
  size_t model = 5;
  size_t node = 4;
  for (const auto& one : workers.list) {
    name = std::max(name, one.name.size());
    model = std::max(model, one.model.size());
    node = std::max(node, one.node.size());
  }
  std::string text = fmt::format("{:<{}}  {:<{}}  {:<{}}  {:<8}  since\n", "name", name, "model",
                                 model, "node", node, "state");
  for (const auto& one : by_age(workers.list))
    text += fmt::format("{:<{}}  {:<{}}  {:<{}}  {:<8}  {}\n", one.name, name, one.model, model,
                        one.node, node, word_of(one.state),
                        one.since ? format_utc(*one.since).substr(0, 19) + "Z" : "?");
  return text;
}

}  // namespace assay::placement
