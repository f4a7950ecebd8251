// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <assay/base/files.h>
#include <assay/promapi/family_writer.h>

namespace assay::agent {

/// One number in a file of /sys, kept open.
struct NodeSensor {
  std::string family;
  promapi::FamilyKind kind = promapi::FamilyKind::gauge;
  std::string help;
  promapi::LabelText labels;
  double divisor = 1;
  Fd file;               ///< none: it is a fact, with the value 1
  bool is_fact = false;  ///< such as a chip's name
};

/// node_hwmon_*, node_thermal_zone_temp, node_cooling_device_* and node_rapl_*: the sensors that
/// were there at the start, with node_exporter's names for them. One that cannot be read just now
/// has no value.
class NodeSensors {
 public:
  explicit NodeSensors(const SysRoot& root);

  void write(promapi::FamilyWriter& out) const;

 private:
  std::vector<NodeSensor> sensors_;  ///< those of one family beside each other
};

/// Each for one folder of /sys/class.
std::vector<NodeSensor> hwmon_sensors(const SysRoot& root);
std::vector<NodeSensor> thermal_sensors(const SysRoot& root);
std::vector<NodeSensor> rapl_sensors(const SysRoot& root);

}  // namespace assay::agent
