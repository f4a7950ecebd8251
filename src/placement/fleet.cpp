// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string_view>
#include <unordered_map>

#include <assay/base/wording.h>
#include <assay/placement/fleet.h>

namespace assay::placement {
namespace {

Node node_of(const predict::Device& device) {
  Node node{device.name, device.uuid, device.kind, device.model};
  if (device.cores > 0) node.cores = device.cores;
  if (device.memory_bytes > 0) node.memory_bytes = device.memory_bytes;
  return node;
}

bool is_same(const Node& node, const predict::Device& device) {
  return node.name == device.name || (!node.uuid.empty() && node.uuid == device.uuid);
}

/// Nothing where it is not known of both.
std::optional<bool> same_cores(const Node& node, const predict::Device& device) {
  if (!node.cores || !(device.cores > 0)) return std::nullopt;
  return std::abs(*node.cores - device.cores) < 0.01;
}

/// Devices by what they are called, have or are.
class Index {
 public:
  explicit Index(const std::vector<predict::Device>& devices) : devices_(devices) {
    for (size_t i = 0; i < devices.size(); ++i) {
      by_name_.emplace(devices[i].name, i);
      if (!devices[i].model.empty()) by_model_[devices[i].model].push_back(i);
      if (devices[i].uuid.empty()) continue;
      const auto [at, is_new] = by_uuid_.emplace(devices[i].uuid, i);
      if (!is_new) at->second = std::nullopt;
    }
  }

  std::optional<size_t> find(const Node& node) const {
    if (const auto named = by_name_.find(node.name); named != by_name_.end()) return named->second;
    if (const auto same = by_uuid_.find(node.uuid); same != by_uuid_.end() && same->second) {
      if (could_be(node, devices_[*same->second])) return same->second;
    }
    return find_like(node);
  }

 private:
  /// A card that was cloned has its uuid in another board, too, and a part of a machine that
  /// stands for a device has the machine's.
  static bool could_be(const Node& node, const predict::Device& device) {
    const bool other_model =
        !device.model.empty() && !node.model.empty() && device.model != node.model;
    return !other_model && same_cores(node, device).value_or(true);
  }

  /// Of one model are all virtual machines of a hypervisor, however large they are.
  std::optional<size_t> find_like(const Node& node) const {
    const auto found = by_model_.find(node.model);
    if (found == by_model_.end()) return std::nullopt;
    std::optional<size_t> perhaps;
    for (const size_t i : found->second) {
      const auto same = same_cores(node, devices_[i]);
      if (same.value_or(false)) return i;
      if (!same && !perhaps) perhaps = i;
    }
    return perhaps;
  }

  const std::vector<predict::Device>& devices_;
  std::unordered_map<std::string_view, size_t> by_name_;
  std::unordered_map<std::string_view, std::vector<size_t>> by_model_;
  /// Nothing where several have it: parts of one machine, or what was made from one image.
  std::unordered_map<std::string_view, std::optional<size_t>> by_uuid_;
};

}  // namespace

Result<Fleet> fleet_of(const std::vector<predict::Device>& devices,
                       const std::map<std::string, double>& loads) {
  Fleet fleet;
  std::vector<std::string_view> names;
  for (const auto& device : devices) {
    fleet.nodes.push_back(node_of(device));
    names.push_back(device.name);
    const auto load = loads.find(device.name);
    if (load != loads.end()) fleet.nodes.back().load = load->second;
  }
  for (const auto& [name, load] : loads) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      return bad_input(fmt::format("a load is given for {}, which is no known device{}",
                                   in_quotes(name), suggestion(name, names)));
  }
  return fleet;
}

std::vector<std::optional<size_t>> match(const std::vector<Node>& nodes,
                                         const std::vector<predict::Device>& devices) {
  const Index index(devices);
  std::vector<std::optional<size_t>> found;
  found.reserve(nodes.size());
  for (const auto& node : nodes) found.push_back(index.find(node));
  return found;
}

void add_doubt(std::string& doubt, const Node& node, const predict::Device& device) {
  if (is_same(node, device)) return;
  if (!doubt.empty()) doubt += "; ";
  doubt += fmt::format("{} is told by {}, of the same model", node.name, device.name);
}

}  // namespace assay::placement
