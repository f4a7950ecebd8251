// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/probes/probe.h>

namespace assay::probes {

/// Which quantities an app's control groups tell; the process tree has to tell the rest.
struct CgroupCover {
  bool cpu = false;
  bool memory = false;
  bool disk_bytes = false;
  bool disk_operations = false;
};

/// Finds out which of the group's files exist on this kernel.
CgroupCover cgroup_cover(const SysRoot& root, const CgroupPaths& paths);

/// One probe per quantity that the control groups tell.
Probes cgroup_probes(const SysRoot& root, const CgroupPaths& paths);

/// What the app's groups cannot tell and nothing else can, with reasons.
std::vector<NotMeasured> cgroup_gaps(const CgroupPaths& paths, const CgroupCover& cover);

}  // namespace assay::probes
