// SPDX-License-Identifier: Apache-2.0
#include "hwmon.h"
#include "sensor_probe.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include <assay/base/text.h>
#include <assay/probes/probe.h>

namespace assay::probes {
namespace {

using enum MetricId;
constexpr const char* kPowercap = "/sys/class/powercap";
constexpr const char* kSupplies = "/sys/class/power_supply";
constexpr double kMicro = 1e-6;
constexpr double kMilli = 1e-3;

void append(std::vector<Sensor>& all, std::vector<Sensor> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// "package-0" for intel-rapl:0 and "package-0/core" for its part intel-rapl:0:0.
std::string rapl_domain(const SysRoot& root, const std::string& zone) {
  const auto name_of = [&](const std::string& z) {
    return root.read(fmt::format("{}/{}/name", kPowercap, z)).value_or(z);
  };
  const size_t part = zone.find(':', zone.find(':') + 1);
  if (part == zone.npos) return name_of(zone);
  return fmt::format("{}/{}", name_of(zone.substr(0, part)), name_of(zone));
}

std::vector<Sensor> rapl_sensors(const SysRoot& root) {
  std::vector<Sensor> sensors;
  for (const auto& zone : root.list(kPowercap)) {
    if (zone.rfind("intel-rapl:", 0) != 0) continue;
    const std::string folder = fmt::format("{}/{}", kPowercap, zone);
    const auto range = parse_uint(root.read(folder + "/max_energy_range_uj").value_or(""));
    sensors.push_back({.files = {folder + "/energy_uj"},
                       .scale = kMicro,
                       .metric = energy_joules_total,
                       .source = "RAPL " + folder + "/energy_uj",
                       .labels = {{"domain", rapl_domain(root, zone)}},
                       .wraps_at = range.value_or(UINT32_MAX)});
  }
  return sensors;
}

std::vector<Sensor> hwmon_sensors(const SysRoot& root, std::string_view kind,
                                  std::string_view attribute, MetricId metric) {
  std::vector<Sensor> sensors;
  for (const auto& input : hwmon_inputs(root, kind, attribute)) {
    sensors.push_back({.files = {input.path},
                       .scale = kMicro,
                       .metric = metric,
                       .source = input.path,
                       .labels = input.labels()});
  }
  return sensors;
}

/// powerN_input, or powerN_average where a chip has only that.
std::vector<Sensor> hwmon_power(const SysRoot& root) {
  std::vector<Sensor> sensors = hwmon_sensors(root, "power", "input", power_watts);
  for (auto& average : hwmon_sensors(root, "power", "average", power_watts)) {
    const bool known = std::any_of(sensors.begin(), sensors.end(),
                                   [&](const Sensor& s) { return s.labels == average.labels; });
    if (!known) sensors.push_back(std::move(average));
  }
  return sensors;
}

/// Jetson's rails: volts and amperes of the three channels of an INA3221.
std::vector<Sensor> ina3221_hwmon(const SysRoot& root) {
  std::vector<Sensor> sensors;
  for (const auto& input : hwmon_inputs(root, "in", "input")) {
    const std::string current = fmt::format("{}/curr{}_input", input.folder, input.number);
    if (input.chip.rfind("ina3221", 0) != 0 || !root.exists(current)) continue;
    sensors.push_back({.files = {input.path, current},
                       .scale = kMilli * kMilli,
                       .metric = power_watts,
                       .source = fmt::format("INA3221 {} times {}", input.path, current),
                       .labels = input.labels()});
  }
  return sensors;
}

/// The same chip under the driver of older Jetson kernels, which multiplies by itself.
std::vector<Sensor> ina3221_iio(const SysRoot& root) {
  constexpr const char* kDriver = "/sys/bus/i2c/drivers/ina3221x";
  std::vector<Sensor> sensors;
  for (const auto& chip : root.list(kDriver)) {
    for (const auto& device : root.list(fmt::format("{}/{}", kDriver, chip))) {
      if (device.rfind("iio:device", 0) != 0) continue;
      const std::string folder = fmt::format("{}/{}/{}", kDriver, chip, device);
      for (int channel = 0; channel < 3; ++channel) {
        const std::string path = fmt::format("{}/in_power{}_input", folder, channel);
        const auto rail = root.read(fmt::format("{}/rail_name_{}", folder, channel));
        if (!rail || !root.exists(path)) continue;
        sensors.push_back({.files = {path},
                           .scale = kMilli,
                           .metric = power_watts,
                           .source = "INA3221 " + path,
                           .labels = {{"chip", chip}, {"sensor", *rail}}});
      }
    }
  }
  return sensors;
}

void add_battery(const SysRoot& root, const std::string& name, std::vector<Sensor>& sensors) {
  const std::string folder = fmt::format("{}/{}", kSupplies, name);
  const Labels labels = {{"battery", name}};
  const std::string note = " (into or out of the battery)";
  if (root.exists(folder + "/power_now")) {
    sensors.push_back({.files = {folder + "/power_now"},
                       .scale = kMicro,
                       .metric = power_watts,
                       .source = folder + "/power_now" + note,
                       .labels = labels});
  } else if (root.exists(folder + "/current_now") && root.exists(folder + "/voltage_now")) {
    sensors.push_back({.files = {folder + "/current_now", folder + "/voltage_now"},
                       .scale = kMicro * kMicro,
                       .metric = power_watts,
                       .source = folder + "/current_now times voltage_now" + note,
                       .labels = labels});
  }
  if (root.exists(folder + "/capacity")) {
    sensors.push_back({.files = {folder + "/capacity"},
                       .scale = 0.01,
                       .metric = battery_charge_ratio,
                       .source = folder + "/capacity",
                       .labels = labels});
  }
}

std::vector<Sensor> battery_sensors(const SysRoot& root) {
  std::vector<Sensor> sensors;
  for (const auto& name : root.list(kSupplies)) {
    const std::string folder = fmt::format("{}/{}", kSupplies, name);
    // The scope "Device" marks the batteries of mice and keyboards.
    if (root.read(folder + "/type").value_or("") != "Battery") continue;
    if (root.read(folder + "/scope").value_or("System") == "Device") continue;
    add_battery(root, name, sensors);
  }
  return sensors;
}

}  // namespace

Probes power_probes(const SysRoot& root) {
  std::vector<Sensor> energy = rapl_sensors(root);
  append(energy, hwmon_sensors(root, "energy", "input", energy_joules_total));
  std::vector<Sensor> power = hwmon_power(root);
  append(power, ina3221_hwmon(root));
  append(power, ina3221_iio(root));
  append(power, battery_sensors(root));
  Probes probes;
  probes.push_back(std::make_unique<SensorProbe>(
      root, "energy", Pace::beat, std::move(energy),
      "this machine has no energy counter (RAPL in /sys/class/powercap, hwmon); virtual machines "
      "hide them",
      "run as root, or allow it with: sudo chmod -R a+r /sys/class/powercap/intel-rapl:*"));
  probes.push_back(
      std::make_unique<SensorProbe>(root, "power", Pace::slow, std::move(power),
                                    "this machine has no power sensor (hwmon, INA3221, battery)"));
  return probes;
}

}  // namespace assay::probes
