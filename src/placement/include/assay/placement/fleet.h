// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/predict/device.h>

namespace assay::placement {

/// One node as it is now.
struct Node {
  std::string name;
  std::string uuid = {};
  std::string kind = {};   ///< the old callers' class: "Computer", "VM"
  std::string model = {};  ///< "Raspberry Pi 4 Model B"
  std::optional<double> cores = {};
  double load = 0;                       ///< share of its cores that is busy
  std::optional<double> disk_used = {};  ///< share of what "/" has
  std::optional<double> memory_bytes = {};
  std::optional<double> memory_available = {};
  std::optional<double> watts = {};  ///< of its busy processor
};

/// A node that nothing is said of, and why not.
struct LeftOut {
  std::string node;
  std::string reason;
};

/// All nodes that a model could run on.
struct Fleet {
  std::vector<Node> nodes;
  std::vector<LeftOut> left_out;
};

/// Without a Prometheus: the devices themselves, idle but for `loads` (shares by name). A load of
/// a device that is none is an error.
Result<Fleet> fleet_of(const std::vector<predict::Device>& devices,
                       const std::map<std::string, double>& loads);

/// For each node the device that it is, or is like: the same name, else a uuid that only one device
/// has, else the same model with as many cores. Nothing where there is none.
std::vector<std::optional<size_t>> match(const std::vector<Node>& nodes,
                                         const std::vector<predict::Device>& devices);
/// Adds that the node is not the device itself that it was matched with, where that is so.
void add_doubt(std::string& doubt, const Node& node, const predict::Device& device);

}  // namespace assay::placement
