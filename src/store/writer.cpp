// SPDX-License-Identifier: Apache-2.0
#include "writer.h"

#include <fmt/format.h>
#include <optional>

#include <assay/base/text.h>

namespace assay::store {
namespace {

struct Stat {
  char state = '?';
  int64_t start_ticks = 0;
};

/// Of /proc/PID/stat, whose second field may hold spaces and parentheses.
std::optional<Stat> read_stat(const SysRoot& root, int64_t pid) {
  const auto content = root.read(fmt::format("/proc/{}/stat", pid));
  if (!content) return std::nullopt;
  const auto name_end = content->rfind(") ");
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(*content).substr(name_end + 2);
  Stat stat;
  const auto state = next_field(rest, ' ');
  if (!state.empty()) stat.state = state[0];
  for (int field = 4; field < 22; ++field) next_field(rest, ' ');
  stat.start_ticks = parse_int(next_field(rest, ' ')).value_or(0);
  return stat;
}

std::string boot_id(const SysRoot& root) {
  return root.read("/proc/sys/kernel/random/boot_id").value_or("");
}

}  // namespace

Writer describe_process(const SysRoot& root, pid_t pid) {
  const auto stat = read_stat(root, pid);
  return {pid, stat ? stat->start_ticks : 0, boot_id(root)};
}

bool is_alive(const SysRoot& root, const Writer& writer) {
  if (writer.pid <= 0) return false;
  if (!writer.boot.empty() && writer.boot != boot_id(root)) return false;
  const auto stat = read_stat(root, writer.pid);
  if (!stat || stat->state == 'Z' || stat->state == 'X') return false;
  return writer.start_ticks == 0 || stat->start_ticks == writer.start_ticks;
}

}  // namespace assay::store
