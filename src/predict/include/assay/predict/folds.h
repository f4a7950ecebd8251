// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay::predict {

/// For each row, in which of `count` folds it is tested. Rows of one group are in the same fold,
/// so that nothing is learned from what is tested; folds have nearly the same number of rows. The
/// same seed gives the same folds on every machine.
std::vector<size_t> grouped_folds(std::span<const std::string> group_of_row, size_t count,
                                  uint64_t seed);

}  // namespace assay::predict
