// SPDX-License-Identifier: Apache-2.0
#include "node/node_sensors.h"

#include "hwmon.h"
#include "sensor_probe.h"

#include <fmt/format.h>

namespace assay::probes {
namespace {

constexpr const char* kPolicies = "/sys/devices/system/cpu/cpufreq";
constexpr const char* kZones = "/sys/class/thermal";

std::vector<Sensor> thermal_zones(const SysRoot& root) {
  std::vector<Sensor> sensors;
  for (const auto& name : root.list(kZones)) {
    if (name.rfind("thermal_zone", 0) != 0) continue;
    const std::string folder = fmt::format("{}/{}", kZones, name);
    const std::string type = root.read(folder + "/type").value_or("unknown");
    sensors.push_back({.files = {folder + "/temp"},
                       .scale = 1e-3,
                       .metric = MetricId::temperature_celsius,
                       .source = folder + "/temp",
                       .labels = {{"type", type}, {"zone", name.substr(12)}}});
  }
  return sensors;
}

}  // namespace

std::unique_ptr<Probe> make_frequency_probe(const SysRoot& root) {
  std::vector<Sensor> sensors;
  for (const auto& name : root.list(kPolicies)) {
    const std::string path = fmt::format("{}/{}/scaling_cur_freq", kPolicies, name);
    if (name.rfind("policy", 0) != 0 || !root.exists(path)) continue;
    sensors.push_back({.files = {path},
                       .scale = 1e3,
                       .metric = MetricId::cpu_frequency_hertz,
                       .source = path,
                       .labels = {{"policy", name.substr(6)}}});
  }
  return std::make_unique<SensorProbe>(
      root, "node frequency", Pace::slow, std::move(sensors),
      fmt::format("this kernel has no {}/policy*; virtual machines hide the CPU's frequency",
                  kPolicies));
}

std::unique_ptr<Probe> make_temperature_probe(const SysRoot& root) {
  std::vector<Sensor> sensors = thermal_zones(root);
  for (const auto& input : hwmon_inputs(root, "temp", "input")) {
    sensors.push_back({.files = {input.path},
                       .scale = 1e-3,
                       .metric = MetricId::temperature_celsius,
                       .source = input.path,
                       .labels = input.labels()});
  }
  return std::make_unique<SensorProbe>(root, "node temperature", Pace::slow, std::move(sensors),
                                       "this machine has no sensor in /sys/class/thermal or "
                                       "/sys/class/hwmon; virtual machines hide them");
}

}  // namespace assay::probes
