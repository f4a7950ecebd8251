// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include <assay/base/result.h>

namespace assay::predict {

/// A device as placement knows it: who it is, as `char_node_*` tells, and what it was measured to
/// do. docs/devices.md names the figures.
struct Device {
  std::string name;  ///< of the node
  std::string uuid;
  std::string kind;   ///< "Computer", "VM": the old callers' class
  std::string model;  ///< "Raspberry Pi 4 Model B"
  double cores = 0;
  double memory_bytes = 0;
  /// By name, in units of the SI: "flops_float32", "bandwidth_one_core", "launch_seconds.opencv".
  std::map<std::string, double> figures = {};
  std::string gpu_model = {};  ///< "NVIDIA H200"; of the first, which alone is measured
  double gpu_memory_bytes = 0;
  double gpus = 0;  ///< how many there are

  bool operator==(const Device&) const = default;
};

nlohmann::json device_document(const Device& device);
/// `where` is for messages.
Result<Device> read_device(const nlohmann::json& document, const std::string& where);

}  // namespace assay::predict
