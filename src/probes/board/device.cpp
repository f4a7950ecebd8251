// SPDX-License-Identifier: Apache-2.0
#include "text/fields.h"
#include "text/node.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <assay/base/text.h>
#include <assay/probes/probe.h>

namespace assay::probes {
namespace {

/// "0-3,8" has five.
int count_cpus(std::string_view list) {
  int count = 0;
  while (!list.empty()) {
    std::string_view range = next_field(list, ',');
    const auto first = parse_uint(next_field(range, '-'));
    if (!first) continue;
    const auto last = range.empty() ? first : parse_uint(range);
    if (last && *last >= *first && *last < 65536) count += static_cast<int>(*last - *first + 1);
  }
  return count;
}

int read_cores(const SysRoot& root, std::string_view cpuinfo) {
  const int online = count_cpus(root.read("/sys/devices/system/cpu/online").value_or(""));
  if (online > 0) return online;
  int count = 0;
  for (std::string_view line; next_line(cpuinfo, line);) {
    if (line.substr(0, 9) == "processor") ++count;
  }
  return count;
}

/// ARM's /proc/cpuinfo has numbers where x86 has a name.
std::string arm_model(std::string_view cpuinfo) {
  struct Part {
    std::string_view number;
    std::string_view name;
  };
  constexpr std::array<Part, 12> kParts = {{{"0xd03", "Cortex-A53"},
                                            {"0xd05", "Cortex-A55"},
                                            {"0xd07", "Cortex-A57"},
                                            {"0xd08", "Cortex-A72"},
                                            {"0xd0b", "Cortex-A76"},
                                            {"0xd0c", "Neoverse-N1"},
                                            {"0xd40", "Neoverse-V1"},
                                            {"0xd41", "Cortex-A78"},
                                            {"0xd42", "Cortex-A78AE"},
                                            {"0xd49", "Neoverse-N2"},
                                            {"0xd4f", "Neoverse-V2"},
                                            {"0xc07", "Cortex-A7"}}};
  const auto maker = keyed_text(cpuinfo, "CPU implementer");
  const auto part = keyed_text(cpuinfo, "CPU part");
  if (!maker || !part) return "";
  const auto found = std::find_if(kParts.begin(), kParts.end(), [&](const Part& p) {
    return *maker == "0x41" && p.number == *part;
  });
  if (found != kParts.end()) return std::string(found->name);
  return fmt::format("ARM implementer {} part {}", *maker, *part);
}

std::string read_cpu_model(std::string_view cpuinfo) {
  const auto name = keyed_text(cpuinfo, "model name");
  if (name && !name->empty() && name->substr(0, 5) != "ARMv7") return std::string(*name);
  return arm_model(cpuinfo);
}

std::string read_model(const SysRoot& root) {
  for (const auto* path : {"/proc/device-tree/model", "/sys/firmware/devicetree/base/model"}) {
    if (auto model = root.read(path); model && !model->empty()) return *model;
  }
  const std::string vendor = root.read("/sys/class/dmi/id/sys_vendor").value_or("");
  const std::string product = root.read("/sys/class/dmi/id/product_name").value_or("");
  return std::string(trim(vendor + " " + product));
}

bool is_virtual(const SysRoot& root, std::string_view cpuinfo) {
  if (root.exists("/sys/hypervisor/type")) return true;
  const auto flags = keyed_text(cpuinfo, "flags");
  const std::string padded = fmt::format(" {} ", flags.value_or(""));
  if (padded.find(" hypervisor ") != padded.npos) return true;
  const std::string vendor = root.read("/sys/class/dmi/id/sys_vendor").value_or("");
  constexpr std::array<std::string_view, 6> kMakers = {"QEMU",       "VMware", "innotek",
                                                       "Amazon EC2", "Xen",    "Google"};
  return std::any_of(kMakers.begin(), kMakers.end(),
                     [&](std::string_view m) { return vendor.find(m) != vendor.npos; });
}

std::string read_os(const SysRoot& root) {
  const std::string text = root.read("/etc/os-release").value_or("");
  std::string_view rest = text;
  for (std::string_view line; next_line(rest, line);) {
    if (next_field(line, '=') != "PRETTY_NAME") continue;
    line = trim(line);
    if (line.size() >= 2 && line.front() == '"') line = line.substr(1, line.size() - 2);
    return std::string(line);
  }
  return "";
}

std::string read_architecture(const SysRoot& root) {
  if (auto arch = root.read("/proc/sys/kernel/arch")) return *arch;
  utsname name{};
  if (root.is_live() && ::uname(&name) == 0) return name.machine;
  return "";
}

}  // namespace

Device read_device(const SysRoot& root) {
  const std::string cpuinfo = root.read("/proc/cpuinfo").value_or("");
  Device device;
  device.hostname = root.read("/proc/sys/kernel/hostname").value_or("");
  device.machine_id = root.read("/etc/machine-id").value_or("");
  device.model = read_model(root);
  device.device_class = is_virtual(root, cpuinfo) ? "VM" : "Computer";
  device.cpu_model = read_cpu_model(cpuinfo);
  device.architecture = read_architecture(root);
  device.cores = read_cores(root, cpuinfo);
  device.memory_bytes = parse_meminfo(root.read("/proc/meminfo").value_or("")).total.value_or(0);
  device.os = read_os(root);
  device.kernel = root.read("/proc/sys/kernel/osrelease").value_or("");
  return device;
}

}  // namespace assay::probes
