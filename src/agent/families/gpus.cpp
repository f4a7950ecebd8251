// SPDX-License-Identifier: Apache-2.0
#include "families/gpus.h"

#include <fmt/format.h>

#include <assay/base/text.h>

namespace assay::agent {
namespace {

constexpr const char* kPci = "/sys/bus/pci/devices";

std::string_view maker_of(std::string_view vendor) {
  if (vendor == "0x10de") return "NVIDIA";
  if (vendor == "0x1002") return "AMD";
  if (vendor == "0x8086") return "Intel";
  return "";
}

/// NVIDIA's driver has a line "Model: NVIDIA L4" for each of its GPUs.
std::string driver_name(const SysRoot& root, const std::string& address) {
  const std::string text =
      root.read(fmt::format("/proc/driver/nvidia/gpus/{}/information", address)).value_or("");
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view line = next_field(rest, '\n');
    if (next_field(line, ':') == "Model") return std::string(trim(line));
  }
  return "";
}

/// Intel's are part of the processor when they are on its own bus. AMD's may be either, and the
/// kernel does not say.
Gpu::Kind kind_of(std::string_view maker, const std::string& address) {
  if (maker == "NVIDIA") return Gpu::Kind::dedicated;
  if (maker != "Intel") return Gpu::Kind::unknown;
  return address.compare(0, 8, "0000:00:") == 0 ? Gpu::Kind::integrated : Gpu::Kind::dedicated;
}

bool is_display(const std::string& pci_class) {
  return pci_class.compare(0, 4, "0x03") == 0;
}

bool is_jetson(const SysRoot& root, const Device& device) {
  const std::string chip = root.read("/proc/device-tree/compatible").value_or("");
  return chip.find("nvidia,tegra") != chip.npos || device.model.find("Jetson") != device.model.npos;
}

}  // namespace

std::vector<Gpu> find_gpus(const SysRoot& root, const Device& device) {
  std::vector<Gpu> gpus;
  if (is_jetson(root, device)) gpus.push_back({device.model, Gpu::Kind::integrated});
  for (const auto& address : root.list(kPci)) {
    const std::string folder = fmt::format("{}/{}", kPci, address);
    if (!is_display(root.read(folder + "/class").value_or(""))) continue;
    const std::string_view maker = maker_of(root.read(folder + "/vendor").value_or(""));
    if (maker.empty()) continue;
    std::string model = driver_name(root, address);
    if (model.empty())
      model = fmt::format("{} {}", maker, root.read(folder + "/device").value_or(""));
    gpus.push_back({std::string(trim(model)), kind_of(maker, address)});
  }
  return gpus;
}

}  // namespace assay::agent
