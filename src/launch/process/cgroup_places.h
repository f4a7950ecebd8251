// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/files.h>

namespace assay::launch {

/// A v1 hierarchy of ours to make a group in; co-mounted controllers share one.
struct V1Place {
  std::vector<std::string> controllers;  ///< of cpu, cpuacct, memory, blkio, pids
  std::string parent;  ///< our own group in it: "/sys/fs/cgroup/memory/user.slice"
};

/// A v2 group that a group could be made in.
struct V2Place {
  std::string parent;
  std::vector<std::string> enabled;     ///< of cpu, memory, io, pids: what a child would have now
  std::vector<std::string> can_enable;  ///< what could be added to cgroup.subtree_control
};

/// Where on this machine a control group could be made. Pure reading, of /proc/self and /sys.
struct CgroupPlaces {
  std::vector<V1Place> v1;  ///< filled where the controllers are in v1 (hybrid included)
  std::vector<V2Place> v2;  ///< otherwise; best first
  bool empty() const { return v1.empty() && v2.empty(); }
};

CgroupPlaces find_cgroup_places(const SysRoot& root);

/// Folders in which a session of this user may have made groups: ours, and all above it.
std::vector<std::string> cgroup_parents(const SysRoot& root);

}  // namespace assay::launch
