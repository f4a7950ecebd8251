// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include <assay/base/files.h>

namespace assay {

/// Which process it is, for as long as anybody remembers: the start time tells it from a later one
/// of the same pid, the namespace says in which world the pid counts, the boot in which life of the
/// machine. What is 0 or empty is not known.
struct ProcessId {
  pid_t pid = 0;
  uint64_t start_ticks = 0;
  uint64_t pid_namespace = 0;
  std::string boot;

  /// "pid.start.namespace.boot", or without the last when it is not known.
  std::string text() const;
  /// Reads both forms; nothing for any other text.
  static std::optional<ProcessId> parse(std::string_view text);
  /// The calling process; only the pid is known where /proc cannot be read.
  static ProcessId self(const SysRoot& root);

  bool operator==(const ProcessId&) const = default;
};

/// `unknown` for a process of another pid namespace: whoever cannot see it must not judge it, and
/// has to treat it as alive. One of another boot is dead wherever it was, and so is one without a
/// pid, and a zombie.
enum class ProcessState : uint8_t { alive, dead, unknown };
ProcessState state_of(const SysRoot& root, const ProcessId& process);
/// Which machine this is, for what several can see: an engine's containers, a cluster's Jobs. By
/// its boot, as `self` has it, where it has no id.
std::string machine_name(const SysRoot& root, const ProcessId& self);

/// Of /proc/PID/stat.
struct ProcessStat {
  char state = '?';
  pid_t parent = 0;
  uint64_t start_ticks = 0;
};
std::optional<ProcessStat> read_stat(const SysRoot& root, pid_t pid);

}  // namespace assay
