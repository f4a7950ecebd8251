// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibrate/slices.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace assay::collect {

struct MemoryFigures {
  Measured bandwidth_one_core;  ///< bytes per second
  Measured bandwidth;
  Measured latency;  ///< seconds, of a core that is alone
  std::optional<Measured>
      contended;  ///< of one beside others that stream; nothing on a single core
};

/// `bytes` is how much memory may be used; more than the caches hold.
MemoryFigures measure_memory(const std::vector<int>& cpus, size_t bytes, const Timing& timing);

}  // namespace assay::collect
