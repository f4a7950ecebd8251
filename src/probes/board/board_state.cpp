// SPDX-License-Identifier: Apache-2.0
#include "text/node.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <set>

#include <assay/base/text.h>
#include <assay/probes/probe.h>

namespace assay::probes {
namespace {

constexpr const char* kPolicies = "/sys/devices/system/cpu/cpufreq";
constexpr const char* kCpus = "/sys/devices/system/cpu";

std::optional<double> read_number(const SysRoot& root, const std::string& path) {
  const auto text = root.read(path);
  const auto number = text ? parse_first_int(*text) : std::nullopt;
  if (!number) return std::nullopt;
  return static_cast<double>(*number);
}

void read_frequencies(const SysRoot& root, BoardState& state) {
  std::set<std::string> governors;
  for (const auto& name : root.list(kPolicies)) {
    if (name.rfind("policy", 0) != 0) continue;
    const std::string folder = fmt::format("{}/{}", kPolicies, name);
    if (auto governor = root.read(folder + "/scaling_governor")) governors.insert(*governor);
    const auto lowest = read_number(root, folder + "/scaling_min_freq");
    const auto highest = read_number(root, folder + "/scaling_max_freq");
    if (lowest) {
      state.min_frequency_hertz = std::min(state.min_frequency_hertz.value_or(1e99), *lowest * 1e3);
    }
    if (highest) {
      state.max_frequency_hertz = std::max(state.max_frequency_hertz.value_or(0), *highest * 1e3);
    }
  }
  for (const auto& governor : governors) {
    state.governor += (state.governor.empty() ? "" : "+") + governor;
  }
}

/// The bits of the Raspberry Pi's firmware: the low ones now, those from 16 on since boot.
void read_pi_throttling(const SysRoot& root, std::vector<std::string>& throttling) {
  constexpr std::array<std::string_view, 4> kBits = {"under-voltage", "frequency capped",
                                                     "throttled", "soft temperature limit"};
  const auto text = root.read("/sys/devices/platform/soc/soc:firmware/get_throttled");
  if (!text) return;
  std::string_view digits = trim(*text);
  if (digits.substr(0, 2) == "0x") digits.remove_prefix(2);
  uint32_t bits = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  for (size_t i = 0; i < kBits.size(); ++i) {
    if ((bits >> i & 1U) != 0) throttling.push_back(fmt::format("{} now", kBits[i]));
    if ((bits >> (i + 16) & 1U) != 0) throttling.push_back(fmt::format("{} since boot", kBits[i]));
  }
}

/// The largest count of any core: packages repeat theirs in each of their cores.
void read_x86_throttling(const SysRoot& root, std::vector<std::string>& throttling) {
  for (const std::string counter : {"core_throttle_count", "package_throttle_count"}) {
    double most = 0;
    for (const auto& cpu : root.list(kCpus)) {
      if (cpu.rfind("cpu", 0) != 0) continue;
      const auto count =
          read_number(root, fmt::format("{}/{}/thermal_throttle/{}", kCpus, cpu, counter));
      most = std::max(most, count.value_or(0));
    }
    if (most > 0) throttling.push_back(fmt::format("{} {:.0f}", counter, most));
  }
}

/// "pmode:0003" in the status file is mode 3; the configuration names it "< POWER_MODEL ID=3
/// NAME=30W >".
std::string read_power_mode(const SysRoot& root) {
  const auto status = root.read("/var/lib/nvpmodel/status");
  if (!status) return "";
  std::string_view number = trim(std::string_view(*status));
  if (number.rfind("pmode:", 0) == 0) number.remove_prefix(6);
  const auto id = parse_uint(number);
  if (!id) return std::string(number);
  const std::string config = root.read("/etc/nvpmodel.conf").value_or("");
  const std::string mark = fmt::format("ID={} NAME=", *id);
  const size_t at = config.find(mark);
  if (at == config.npos) return fmt::format("mode {}", *id);
  const std::string_view rest = std::string_view(config).substr(at + mark.size());
  return fmt::format("mode {} ({})", *id, rest.substr(0, rest.find_first_of(" >\n")));
}

}  // namespace

BoardState read_board_state(const SysRoot& root) {
  BoardState state;
  read_frequencies(root, state);
  read_pi_throttling(root, state.throttling);
  read_x86_throttling(root, state.throttling);
  state.power_mode = read_power_mode(root);
  state.kernel = root.read("/proc/sys/kernel/osrelease").value_or("");
  const auto load = parse_loadavg(root.read("/proc/loadavg").value_or(""));
  state.load_before = load ? load->load1 : 0;
  return state;
}

}  // namespace assay::probes
