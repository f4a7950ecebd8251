// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace assay::analysis {

/// Without those ends of levels that a curve through the values around explains better than a
/// step. The last end stays. `places` says where in time each value is, `variance` how much of them
/// is noise.
std::vector<size_t> without_drifts(std::vector<size_t> ends, const std::vector<double>& values,
                                   const std::vector<size_t>& places, double variance);

}  // namespace assay::analysis
