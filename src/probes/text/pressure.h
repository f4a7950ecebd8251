// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace assay::probes {

/// Pressure stall information (/proc/pressure/*, *.pressure of a cgroup v2): seconds so far.
struct Pressure {
  std::optional<double> waiting_seconds;  ///< "some": at least one task waited
  std::optional<double>
      stalled_seconds;  ///< "full": all tasks waited; older kernels have none for cpu
};
Pressure parse_pressure(std::string_view text);

}  // namespace assay::probes
