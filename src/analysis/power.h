// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include <assay/analysis/run_analysis.h>

namespace assay::analysis {

/// The power of the whole node from whatever meters it has, none counted twice. The first of these
/// that there is: RAPL's platform domain (psys), a meter at the board's supply, RAPL's packages
/// added up without their parts, AMD's sockets, the one other meter that shows most (since the rest
/// may be parts of it), the batteries. The source says which, and whether it stands for the whole
/// node.
std::optional<Distribution> power_of(const std::vector<Series>& recorded, Timestamp from,
                                     Timestamp to);

}  // namespace assay::analysis
