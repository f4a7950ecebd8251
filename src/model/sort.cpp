// SPDX-License-Identifier: Apache-2.0
#include "sort.h"

#include <fmt/format.h>
#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include <assay/base/wording.h>

namespace assay::model {
namespace {

std::string called(const Node& node) {
  return in_quotes(node.name.empty() ? node.op : node.name);
}

void add_used(const Node& node, std::vector<std::string_view>& names);

/// What a nested graph uses and does not define.
void add_captured(const Graph& graph, std::vector<std::string_view>& names) {
  std::unordered_set<std::string_view> own;
  for (const auto& input : graph.inputs) own.insert(input.name);
  for (const auto& tensor : graph.initializers) own.insert(tensor.name);
  std::vector<std::string_view> used;
  for (const auto& node : graph.nodes) {
    own.insert(node.outputs.begin(), node.outputs.end());
    add_used(node, used);
  }
  for (const auto& output : graph.outputs) used.push_back(output.name);
  for (const auto name : used) {
    if (!own.contains(name)) names.push_back(name);
  }
}

void add_used(const Node& node, std::vector<std::string_view>& names) {
  names.insert(names.end(), node.inputs.begin(), node.inputs.end());
  for (const auto& attribute : node.attributes) {
    for (const auto& graph : attribute.graphs) add_captured(graph, names);
  }
}

using Producers = std::unordered_map<std::string_view, size_t>;

/// Of a value that two nodes make, the later counts: so tools overwrite constants.
Producers producers_of(const std::vector<Node>& nodes) {
  Producers producers;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const auto& output : nodes[i].outputs) producers[output] = i;
  }
  producers.erase("");
  return producers;
}

}  // namespace

std::vector<std::string_view> used_names(const Node& node) {
  std::vector<std::string_view> names;
  add_used(node, names);
  return names;
}

Result<std::vector<size_t>> sorted(const std::vector<Node>& nodes) {
  const Producers producers = producers_of(nodes);
  std::vector<std::vector<size_t>> users(nodes.size());
  std::vector<size_t> waiting(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const auto name : used_names(nodes[i])) {
      const auto found = producers.find(name);
      if (found == producers.end()) continue;
      users[found->second].push_back(i);
      ++waiting[i];
    }
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (waiting[i] == 0) ready.push(i);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const size_t user : users[next]) {
      if (--waiting[user] == 0) ready.push(user);
    }
  }
  if (order.size() == nodes.size()) return order;
  size_t stuck = 0;
  while (waiting[stuck] == 0) ++stuck;
  return bad_input(fmt::format("the graph has a cycle: node {} needs what it or its followers make",
                               called(nodes[stuck])));
}

}  // namespace assay::model
