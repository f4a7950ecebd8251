// SPDX-License-Identifier: Apache-2.0
#include "families/characteristics.h"

#include "families/gpus.h"

#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/probes/probe.h>

namespace assay::agent {
namespace {

using promapi::Label;
using promapi::LabelText;
constexpr auto kGauge = promapi::FamilyKind::gauge;

/// The three labels that every family has, and more.
LabelText with(const Device& device, std::initializer_list<Label> more) {
  std::vector<Label> labels = {{"char_node_name", device.hostname},
                               {"char_node_class", device.device_class},
                               {"char_node_uuid", device.machine_id}};
  labels.insert(labels.end(), more.begin(), more.end());
  return LabelText(labels);
}

/// The disks that are hardware, in bytes; those in memory and those made of others have no device.
double disk_bytes(const SysRoot& root) {
  constexpr double kSector = 512;
  double sum = 0;
  for (const auto& disk : root.list("/sys/block")) {
    const std::string folder = fmt::format("/sys/block/{}", disk);
    // What a drive for discs without a disc says is no size.
    if (!root.exists(folder + "/device") || disk.rfind("sr", 0) == 0) continue;
    const auto sectors = parse_uint(root.read(folder + "/size").value_or(""));
    sum += static_cast<double>(sectors.value_or(0)) * kSector;
  }
  return sum;
}

/// A value of /etc/os-release without its quotes.
std::string os_value(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = next_field(text, '\n');
    if (next_field(line, '=') != key) continue;
    line = trim(line);
    if (line.size() >= 2 && line.front() == line.back() && (line[0] == '"' || line[0] == '\''))
      line = line.substr(1, line.size() - 2);
    return std::string(line);
  }
  return "";
}

std::string bits_of(const std::string& architecture) {
  if (architecture.empty()) return "";
  const bool wide = architecture.find("64") != architecture.npos || architecture == "s390x";
  return wide ? "64" : "32";
}

std::string_view type_of(Gpu::Kind kind) {
  switch (kind) {
    case Gpu::Kind::integrated:
      return "Integrated graphics processing";
    case Gpu::Kind::dedicated:
      return "Dedicated graphics processing";
    case Gpu::Kind::unknown:
      break;
  }
  return "";
}

LabelText cpu_labels(const Device& device) {
  const std::string bits = bits_of(device.architecture);
  return with(device, {{"char_node_brand", device.cpu_model},
                       {"char_node_arch", device.architecture},
                       {"char_node_bits", bits}});
}

LabelText os_labels(const SysRoot& root, const Device& device) {
  const std::string text = root.read("/etc/os-release").value_or("");
  const std::string name = os_value(text, "NAME");
  const std::string version = os_value(text, "VERSION_ID");
  return with(device, {{"char_node_os_name", name.empty() ? device.os : name},
                       {"char_node_os_version", version}});
}

LabelText location_labels(const Device& device, const Location& location) {
  const auto degrees = [](std::optional<double> angle) {
    return angle ? fmt::format("{}", *angle) : std::string();
  };
  const std::string latitude = degrees(location.latitude);
  const std::string longitude = degrees(location.longitude);
  return with(device, {{"char_node_city", location.city},
                       {"char_node_country", location.country},
                       {"char_node_continent", location.continent},
                       {"char_node_latitude", latitude},
                       {"char_node_longitude", longitude}});
}

}  // namespace

Characteristics::Characteristics(const SysRoot& root, const Clock& clock, const Location& location)
    : battery_(root), power_(root, clock) {
  const Device device = probes::read_device(root);
  const LabelText node = with(device, {});
  plugged_ = with(device, {{"char_node_plugged_battery", "true"}});
  unplugged_ = with(device, {{"char_node_plugged_battery", "false"}});
  cpu_ = cpu_labels(device);
  if (!device.model.empty()) {
    facts_.push_back({"char_node_device_model", "What its maker calls it.",
                      with(device, {{"char_node_device_model_name", device.model}})});
  }
  const auto add_size = [&](std::string_view family, std::string_view help, const LabelText& labels,
                            double size) {
    if (size > 0) facts_.push_back({family, help, labels, size});
  };
  add_size("char_node_ram_total_bytes", "Memory.", node, static_cast<double>(device.memory_bytes));
  add_size("char_node_disk_total_size", "Disks together, in bytes.", node, disk_bytes(root));
  add_size("char_node_cpu_total_cores", "CPUs that are on.", cpu_, device.cores);
  if (!device.os.empty())
    facts_.push_back({"char_node_os", "The operating system.", os_labels(root, device)});
  int id = 0;
  for (const auto& gpu : find_gpus(root, device)) {
    const std::string number = std::to_string(id++);
    facts_.push_back({"char_node_gpu", "A GPU.",
                      with(device, {{"char_node_gpu_model", gpu.model},
                                    {"char_node_gpu_type", type_of(gpu.kind)},
                                    {"char_node_gpu_id", number}})});
  }
  if (location != Location{}) {
    facts_.push_back({"char_node_location", "Where it stands.", location_labels(device, location)});
  }
}

void Characteristics::write(promapi::FamilyWriter& out) {
  std::string_view family;
  for (const auto& fact : facts_) {
    if (fact.family != family) out.family(fact.family, kGauge, fact.help);
    family = fact.family;
    out.sample(fact.labels, fact.value);
  }
  if (const auto percent = battery_.percent()) {
    out.family("char_node_battery", kGauge, "How full the battery is, from 0 to 100.");
    out.sample(battery_.is_plugged() ? plugged_ : unplugged_, *percent);
  }
  if (const auto watts = power_.watts()) {
    out.family("char_node_cpu_energy_watt", kGauge, "What the processor drew since the last look.");
    out.sample(cpu_, *watts);
  }
}

}  // namespace assay::agent
