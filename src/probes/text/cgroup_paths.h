// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

/// Where control groups are mounted and which one a process is in. Pure functions.
namespace assay::probes {

/// One control-group mount. Paths are as in the file, with its \040 escapes.
struct CgroupMount {
  bool unified = false;
  std::string_view root;         ///< the group that is mounted, "/" mostly
  std::string_view mount_point;  ///< "/sys/fs/cgroup/memory"
  std::string_view options;      ///< v1: has the names of the controllers
};
/// A line of /proc/PID/mountinfo; nothing for other file systems.
std::optional<CgroupMount> parse_mountinfo_line(std::string_view line);
/// A line of /proc/mounts; nothing for other file systems.
std::optional<CgroupMount> parse_mounts_line(std::string_view line);

/// A line of /proc/PID/cgroup; `controllers` is empty for v2.
struct CgroupMember {
  std::string_view controllers;  ///< "cpu,cpuacct"
  std::string_view path;         ///< "/system.slice/x.service"
};
std::optional<CgroupMember> parse_cgroup_line(std::string_view line);

/// Whether a comma-separated list has `word`.
bool has_word(std::string_view list, std::string_view word);

}  // namespace assay::probes
