// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include <assay/base/wording.h>
#include <assay/placement/fleet.h>

namespace assay::placement {
namespace {

Node node_of(const predict::Device& device) {
  Node node{device.name, device.uuid, device.kind, device.model};
  if (device.memory_bytes > 0) node.memory_bytes = device.memory_bytes;
  return node;
}

template <class Same>
std::optional<size_t> find(const std::vector<predict::Device>& devices, Same same) {
  const auto found = std::find_if(devices.begin(), devices.end(), same);
  if (found == devices.end()) return std::nullopt;
  return static_cast<size_t>(found - devices.begin());
}

std::optional<size_t> match_one(const Node& node, const std::vector<predict::Device>& devices) {
  using predict::Device;
  auto found = find(devices, [&](const Device& device) {
    return !node.uuid.empty() && device.uuid == node.uuid;
  });
  if (!found) found = find(devices, [&](const Device& device) { return device.name == node.name; });
  if (!found)
    found = find(devices, [&](const Device& device) {
      return !node.model.empty() && device.model == node.model;
    });
  return found;
}

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
  std::vector<std::optional<size_t>> found;
  found.reserve(nodes.size());
  for (const auto& node : nodes) found.push_back(match_one(node, devices));
  return found;
}

}  // namespace assay::placement
