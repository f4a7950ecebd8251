// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay::probes {

/// The kernel's unit of time in /proc and cpuacct.stat: 1/100 s for user space on every
/// architecture that Linux runs on today, whatever the kernel's own tick is.
constexpr double kTickSeconds = 0.01;

constexpr double ticks_to_seconds(uint64_t ticks) {
  return static_cast<double>(ticks) * kTickSeconds;
}

}  // namespace assay::probes
