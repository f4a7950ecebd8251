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

/// Devices by a text that they have; of those with the same, the first.
class Index {
 public:
  Index(const std::vector<predict::Device>& devices, std::string predict::Device::*text) {
    for (size_t i = 0; i < devices.size(); ++i) {
      if (!(devices[i].*text).empty()) places_.emplace(devices[i].*text, i);
    }
  }
  std::optional<size_t> find(std::string_view text) const {
    const auto found = places_.find(text);
    if (found == places_.end()) return std::nullopt;
    return found->second;
  }

 private:
  std::unordered_map<std::string_view, size_t> places_;
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
  const Index by_uuid(devices, &predict::Device::uuid);
  const Index by_name(devices, &predict::Device::name);
  const Index by_model(devices, &predict::Device::model);
  std::vector<std::optional<size_t>> found;
  found.reserve(nodes.size());
  for (const auto& node : nodes) {
    auto device = by_uuid.find(node.uuid);
    if (!device) device = by_name.find(node.name);
    if (!device) device = by_model.find(node.model);
    found.push_back(device);
  }
  return found;
}

}  // namespace assay::placement
