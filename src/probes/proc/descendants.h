// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <assay/probes/probe.h>

namespace assay::probes {

/// Like `descendants`, with those that have ended and were not waited for: they still hold
/// counters.
std::vector<pid_t> descendants_and_zombies(const SysRoot& root, pid_t pid);

}  // namespace assay::probes
