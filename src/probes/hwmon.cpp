// SPDX-License-Identifier: Apache-2.0
#include "hwmon.h"

#include <fmt/format.h>
#include <set>

#include <assay/base/text.h>

namespace assay::probes {
namespace {

constexpr const char* kFolder = "/sys/class/hwmon";

/// The N of "tempN_input"; nothing for other names.
std::optional<uint64_t> number_in(std::string_view name, std::string_view kind,
                                  std::string_view attribute) {
  if (name.substr(0, kind.size()) != kind) return std::nullopt;
  name.remove_prefix(kind.size());
  const std::string_view number = next_field(name, '_');
  if (name != attribute) return std::nullopt;
  return parse_uint(number);
}

}  // namespace

std::vector<HwmonInput> hwmon_inputs(const SysRoot& root, std::string_view kind,
                                     std::string_view attribute) {
  std::vector<HwmonInput> inputs;
  std::set<std::string> names;
  for (const auto& hwmon : root.list(kFolder)) {
    const std::string folder = fmt::format("{}/{}", kFolder, hwmon);
    std::string chip = root.read(folder + "/name").value_or(hwmon);
    // Two disks have two chips of one name.
    if (!names.insert(chip).second) chip += "/" + hwmon;
    for (const auto& file : root.list(folder)) {
      const auto number = number_in(file, kind, attribute);
      if (!number) continue;
      const std::string sensor = fmt::format("{}{}", kind, *number);
      inputs.push_back({folder, fmt::format("{}/{}", folder, file), chip,
                        root.read(fmt::format("{}/{}_label", folder, sensor)).value_or(sensor),
                        static_cast<int>(*number)});
    }
  }
  return inputs;
}

}  // namespace assay::probes
