// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "footprint.h"

#include <optional>
#include <string>
#include <vector>

namespace assay::analysis {

/// What others on the node used: the node less everything that was measured of the run (the app and
/// what was started for it), less Assay itself and, of a container, its engine.
/// One line for CPU and disk each, where both sides were measured; `footprint` tells of CPU time
/// that no sample saw. None for the network: what a container sends to its neighbours never passes
/// the node's interfaces. Empty for a run too short for the kernel's coarse count of the node's CPU
/// time.
Lines others_of(const RunRecord& run, const std::vector<Series>& recorded, const Lines& footprint,
                const Window& window);

/// Whether others used so much CPU time that the numbers cannot be trusted to be those of a quiet
/// machine; nothing when that is not known.
std::optional<bool> is_disturbed(const Lines& others, const Device& device);

/// "others used 1.3 of 4 cores during the run: the numbers may be worse than on a quiet machine".
std::string disturbance_of(const Lines& others, const Device& device);

}  // namespace assay::analysis
