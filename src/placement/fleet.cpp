// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <string_view>
#include <unordered_map>

#include <assay/base/wording.h>
#include <assay/placement/fleet.h>

namespace assay::placement {
namespace {

Node node_of(const predict::Device& device) {
  Node node{device.name, device.uuid, device.kind, device.model};
  if (device.memory_bytes > 0) node.memory_bytes = device.memory_bytes;
  return node;
}

/// Devices by what they are called, have or are.
class Index {
 public:
  explicit Index(const std::vector<predict::Device>& devices) : devices_(devices) {
    for (size_t i = 0; i < devices.size(); ++i) {
      by_name_.emplace(devices[i].name, i);
      if (!devices[i].model.empty()) by_model_.emplace(devices[i].model, i);
      if (devices[i].uuid.empty()) continue;
      const auto [at, is_new] = by_uuid_.emplace(devices[i].uuid, i);
      if (!is_new) at->second = std::nullopt;
    }
  }

  std::optional<size_t> find(const Node& node) const {
    if (const auto named = by_name_.find(node.name); named != by_name_.end()) return named->second;
    if (const auto same = by_uuid_.find(node.uuid); same != by_uuid_.end() && same->second) {
      // A card that was cloned has its uuid in another board, too.
      const std::string& model = devices_[*same->second].model;
      if (model.empty() || node.model.empty() || model == node.model) return same->second;
    }
    if (const auto like = by_model_.find(node.model); like != by_model_.end()) return like->second;
    return std::nullopt;
  }

 private:
  const std::vector<predict::Device>& devices_;
  std::unordered_map<std::string_view, size_t> by_name_;
  std::unordered_map<std::string_view, size_t> by_model_;
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

}  // namespace assay::placement
