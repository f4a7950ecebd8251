// SPDX-License-Identifier: Apache-2.0
#include "families/node_sensors.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

#include <assay/base/text.h>

namespace assay::agent {
namespace {

using promapi::LabelText;
constexpr auto kCounter = promapi::FamilyKind::counter;
constexpr auto kGauge = promapi::FamilyKind::gauge;
constexpr const char* kFolder = "/sys/class/hwmon";
constexpr double kMilli = 1e3;
constexpr double kMicro = 1e6;

/// Files of the form temp1_input, and what they become.
struct Attribute {
  std::string_view kind;
  std::string_view property;
  std::string_view family;
  std::string_view help;
  double divisor = 1;
  promapi::FamilyKind family_kind = kGauge;
};
constexpr std::array<Attribute, 11> kAttributes = {{
    {"temp", "input", "node_hwmon_temp_celsius", "Temperature.", kMilli},
    {"temp", "max", "node_hwmon_temp_max_celsius", "The highest good temperature.", kMilli},
    {"temp", "crit", "node_hwmon_temp_crit_celsius", "The temperature that does harm.", kMilli},
    {"fan", "input", "node_hwmon_fan_rpm", "Turns of a fan in a minute."},
    {"in", "input", "node_hwmon_in_volts", "Voltage.", kMilli},
    {"curr", "input", "node_hwmon_curr_amps", "Current.", kMilli},
    {"power", "input", "node_hwmon_power_watt", "Power.", kMicro},
    {"power", "average", "node_hwmon_power_average_watt", "Mean power.", kMicro},
    {"energy", "input", "node_hwmon_energy_joule_total", "Energy.", kMicro, kCounter},
    {"humidity", "input", "node_hwmon_humidity", "Humidity, from 0 to 1.", kMicro},
    {"pwm", "", "node_hwmon_pwm", "How much a fan is driven, from 0 to 255."},
}};

/// Small letters, digits and ":"; the rest is "_", but not at the ends.
std::string clean(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':';
    text += upper ? static_cast<char>(c - 'A' + 'a') : kept ? c : '_';
  }
  const size_t end = text.find_last_not_of('_') + 1;
  const size_t begin = std::min(text.find_first_not_of('_'), end);
  return text.substr(begin, end - begin);
}

struct Chip {
  std::string folder;
  std::string label;  ///< by the place of its device, which is the same after each start
  std::string name;   ///< "coretemp"
};

std::string label_of(const SysRoot& root, const Chip& chip, const std::string& number) {
  std::error_code error;
  const auto device = std::filesystem::canonical(root.path(chip.folder + "/device"), error);
  if (!error) {
    const std::string name = clean(device.filename().native());
    const std::string bus = clean(device.parent_path().filename().native());
    if (!name.empty()) return bus.empty() ? name : fmt::format("{}_{}", bus, name);
  }
  return chip.name.empty() ? number : chip.name;
}

/// Chips of one device get their names, or at last their numbers, to tell them apart.
std::vector<Chip> find_chips(const SysRoot& root) {
  std::vector<Chip> chips;
  std::map<std::string, int> same_label;
  std::map<std::pair<std::string, std::string>, int> same_name;
  for (const auto& number : root.list(kFolder)) {
    Chip chip;
    chip.folder = fmt::format("{}/{}", kFolder, number);
    chip.name = clean(root.read(chip.folder + "/name").value_or(""));
    chip.label = label_of(root, chip, number);
    ++same_label[chip.label];
    ++same_name[{chip.label, chip.name}];
    chips.push_back(std::move(chip));
  }
  for (auto& chip : chips) {
    if (same_label[chip.label] == 1) continue;
    const bool named = !chip.name.empty() && same_name[{chip.label, chip.name}] == 1;
    const std::string number = chip.folder.substr(chip.folder.rfind('/') + 1);
    chip.label += "_" + (named ? chip.name : number);
  }
  return chips;
}

/// The "temp1" of "temp1_input".
std::optional<std::string> sensor_in(std::string_view file, const Attribute& attribute) {
  std::string_view rest = file;
  const std::string_view sensor = next_field(rest, '_');
  const bool fits = rest == attribute.property &&
                    file.substr(0, attribute.kind.size()) == attribute.kind &&
                    parse_uint(sensor.substr(attribute.kind.size()));
  return fits ? std::optional(std::string(sensor)) : std::nullopt;
}

NodeSensor fact(std::string_view family, std::string_view help, LabelText labels) {
  NodeSensor sensor;
  sensor.family = family;
  sensor.help = help;
  sensor.labels = std::move(labels);
  sensor.is_fact = true;
  return sensor;
}

void add_input(const SysRoot& root, const Chip& chip, const std::string& file,
               const Attribute& attribute, std::vector<NodeSensor>& sensors) {
  const auto name = sensor_in(file, attribute);
  auto opened = name ? root.open(fmt::format("{}/{}", chip.folder, file)) : Fd();
  if (!name || !opened) return;
  NodeSensor sensor;
  sensor.family = attribute.family;
  sensor.kind = attribute.family_kind;
  sensor.help = attribute.help;
  sensor.labels = LabelText({{"chip", chip.label}, {"sensor", *name}});
  sensor.divisor = attribute.divisor;
  sensor.file = std::move(*opened);
  sensors.push_back(std::move(sensor));
}

void add_label(const SysRoot& root, const Chip& chip, const std::string& file,
               std::vector<NodeSensor>& sensors) {
  std::string_view property = file;
  const std::string_view sensor = next_field(property, '_');
  const auto label = property == "label" ? root.read(fmt::format("{}/{}", chip.folder, file))
                                         : Result<std::string>(std::string());
  if (property != "label" || !label) return;
  sensors.push_back(fact("node_hwmon_sensor_label", "What the maker calls a sensor.",
                         LabelText({{"chip", chip.label}, {"label", *label}, {"sensor", sensor}})));
}

}  // namespace

std::vector<NodeSensor> hwmon_sensors(const SysRoot& root) {
  std::vector<NodeSensor> sensors;
  for (const auto& chip : find_chips(root)) {
    if (!chip.name.empty()) {
      sensors.push_back(fact("node_hwmon_chip_names", "What a chip's driver calls it.",
                             LabelText({{"chip", chip.label}, {"chip_name", chip.name}})));
    }
    for (const auto& file : root.list(chip.folder)) {
      add_label(root, chip, file, sensors);
      for (const auto& attribute : kAttributes) add_input(root, chip, file, attribute, sensors);
    }
  }
  return sensors;
}

}  // namespace assay::agent
