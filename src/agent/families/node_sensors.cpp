// SPDX-License-Identifier: Apache-2.0
#include "families/node_sensors.h"

#include "families/kernel_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>

#include <assay/base/text.h>

namespace assay::agent {
namespace {

using promapi::LabelText;
constexpr auto kCounter = promapi::FamilyKind::counter;
constexpr const char* kThermal = "/sys/class/thermal";
constexpr const char* kPowercap = "/sys/class/powercap";

void append(std::vector<NodeSensor>& all, std::vector<NodeSensor> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

/// Adds the sensor if its file can be opened.
void add(const SysRoot& root, const std::string& path, NodeSensor sensor,
         std::vector<NodeSensor>& sensors) {
  auto file = root.open(path);
  if (!file) return;
  sensor.file = std::move(*file);
  sensors.push_back(std::move(sensor));
}

/// The "3" of "thermal_zone3"; empty for other names.
std::string_view number_of(std::string_view name, std::string_view prefix) {
  return name.substr(0, prefix.size()) == prefix ? name.substr(prefix.size()) : "";
}

NodeSensor gauge(std::string_view family, std::string_view help, LabelText labels,
                 double divisor = 1) {
  NodeSensor sensor;
  sensor.family = family;
  sensor.help = help;
  sensor.labels = std::move(labels);
  sensor.divisor = divisor;
  return sensor;
}

/// A zone of RAPL: "package-1" is the package of index 1; zones without a number are counted.
struct RaplZone {
  std::string name;
  std::string index;
};
RaplZone rapl_zone(const std::string& text, std::map<std::string, int>& counts) {
  std::string_view rest = text;
  const std::string_view name = next_field(rest, '-');
  if (parse_uint(rest)) return {std::string(name), std::string(rest)};
  return {text, std::to_string(counts[text]++)};
}

}  // namespace

std::vector<NodeSensor> thermal_sensors(const SysRoot& root) {
  std::vector<NodeSensor> sensors;
  for (const auto& name : root.list(kThermal)) {
    const std::string folder = fmt::format("{}/{}", kThermal, name);
    const std::string type = root.read(folder + "/type").value_or("");
    if (const auto zone = number_of(name, "thermal_zone"); !zone.empty()) {
      add(root, folder + "/temp",
          gauge("node_thermal_zone_temp", "Temperature of a zone, in degrees Celsius.",
                LabelText({{"type", type}, {"zone", zone}}), 1000),
          sensors);
    }
    if (const auto number = number_of(name, "cooling_device"); !number.empty()) {
      const LabelText labels({{"name", number}, {"type", type}});
      add(root, folder + "/cur_state",
          gauge("node_cooling_device_cur_state", "How much is done for cooling now.", labels),
          sensors);
      add(root, folder + "/max_state",
          gauge("node_cooling_device_max_state", "How much can be done for cooling.", labels),
          sensors);
    }
  }
  return sensors;
}

std::vector<NodeSensor> rapl_sensors(const SysRoot& root) {
  std::vector<NodeSensor> sensors;
  std::map<std::string, int> counts;
  for (const auto& entry : root.list(kPowercap)) {
    const std::string folder = fmt::format("{}/{}", kPowercap, entry);
    const auto text = root.read(folder + "/name");
    if (!text) continue;
    const RaplZone zone = rapl_zone(*text, counts);
    NodeSensor sensor =
        gauge(promapi::sanitized_name(fmt::format("node_rapl_{}_joules_total", zone.name)),
              "Energy that a part of the processor used; it wraps.",
              LabelText({{"index", zone.index}, {"path", folder}}), 1e6);
    sensor.kind = kCounter;
    add(root, folder + "/energy_uj", std::move(sensor), sensors);
  }
  return sensors;
}

NodeSensors::NodeSensors(const SysRoot& root) : sensors_(hwmon_sensors(root)) {
  append(sensors_, thermal_sensors(root));
  append(sensors_, rapl_sensors(root));
  std::stable_sort(sensors_.begin(), sensors_.end(),
                   [](const NodeSensor& a, const NodeSensor& b) { return a.family < b.family; });
}

void NodeSensors::write(promapi::FamilyWriter& out) const {
  std::string_view family;
  for (const auto& sensor : sensors_) {
    if (sensor.family != family) out.family(sensor.family, sensor.kind, sensor.help);
    family = sensor.family;
    const double value = sensor.is_fact ? 1 : read_number(sensor.file.get()) / sensor.divisor;
    if (!std::isnan(value)) out.sample(sensor.labels, value);
  }
}

}  // namespace assay::agent
