// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <vector>

#include <assay/launch/launcher.h>

namespace assay::launch {

/// Watches a process that already runs, measured by these control groups; by its process tree where
/// there are none.
Result<std::unique_ptr<RunningApp>> attach_with(pid_t pid, const probes::CgroupPaths& groups,
                                                const SysRoot& root = SysRoot());

}  // namespace assay::launch
