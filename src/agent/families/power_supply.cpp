// SPDX-License-Identifier: Apache-2.0
#include "families/power_supply.h"

#include "families/kernel_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include <assay/base/text.h>

namespace assay::agent {
namespace {

constexpr const char* kPowercap = "/sys/class/powercap";
constexpr const char* kSupplies = "/sys/class/power_supply";

void keep(const SysRoot& root, const std::string& path, std::vector<Fd>& files) {
  if (auto file = root.open(path)) files.push_back(std::move(*file));
}

bool says(int fd, std::string_view word) {
  std::array<char, 32> buffer{};
  const auto text = pread_text(fd, buffer);
  return text && trim(*text) == word;
}

/// Zones of the form intel-rapl:0, which AMD's processors have as well; their parts, such as
/// intel-rapl:0:1, are in them already.
bool is_package(const SysRoot& root, const std::string& zone) {
  return std::count(zone.begin(), zone.end(), ':') == 1 && zone.rfind("intel-rapl:", 0) == 0 &&
         root.read(fmt::format("{}/{}/name", kPowercap, zone)).value_or("").rfind("package", 0) ==
             0;
}

}  // namespace

CpuPower::CpuPower(const SysRoot& root, const Clock& clock) : clock_(clock) {
  for (const auto& zone : root.list(kPowercap)) {
    if (!is_package(root, zone)) continue;
    const std::string folder = fmt::format("{}/{}", kPowercap, zone);
    auto energy = root.open(folder + "/energy_uj");
    const auto range = parse_uint(root.read(folder + "/max_energy_range_uj").value_or(""));
    if (energy && range)
      packages_.push_back({std::move(*energy), static_cast<double>(*range), std::nan("")});
  }
}

std::optional<double> CpuPower::microjoules_since_last() {
  double sum = 0;
  for (auto& package : packages_) {
    const double now = read_number(package.energy.get());
    const double used = now - package.last;
    sum += used < 0 ? used + package.range : used;
    package.last = now;
  }
  return std::isnan(sum) ? std::nullopt : std::optional(sum);
}

std::optional<double> CpuPower::watts() {
  if (packages_.empty()) return std::nullopt;
  const Timestamp now = clock_.now();
  const Nanoseconds elapsed = now - asked_;
  if (elapsed < Milliseconds(100)) return watts_;
  asked_ = now;
  const auto used = microjoules_since_last();
  watts_ = used ? std::optional(*used / std::chrono::duration<double, std::micro>(elapsed).count())
                : std::nullopt;
  return watts_;
}

Battery::Battery(const SysRoot& root) {
  for (const auto& name : root.list(kSupplies)) {
    const std::string folder = fmt::format("{}/{}", kSupplies, name);
    const std::string type = root.read(folder + "/type").value_or("");
    if (root.read(folder + "/scope").value_or("System") == "Device") continue;
    if (type != "Battery") {
      keep(root, folder + "/online", outside_);
    } else {
      keep(root, folder + "/capacity", charges_);
      keep(root, folder + "/status", states_);
    }
  }
}

std::optional<double> Battery::percent() const {
  double sum = 0;
  for (const auto& charge : charges_) sum += read_number(charge.get());
  if (charges_.empty() || std::isnan(sum)) return std::nullopt;
  return sum / static_cast<double>(charges_.size());
}

bool Battery::is_plugged() const {
  if (!outside_.empty()) {
    return std::any_of(outside_.begin(), outside_.end(),
                       [](const Fd& supply) { return says(supply.get(), "1"); });
  }
  return std::none_of(states_.begin(), states_.end(),
                      [](const Fd& state) { return says(state.get(), "Discharging"); });
}

}  // namespace assay::agent
