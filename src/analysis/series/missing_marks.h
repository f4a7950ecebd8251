// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace assay::analysis {

/// Values that were no measurements: how many, and what was written for them, as -999.
struct FoundMarks {
  size_t count = 0;
  std::vector<std::string> marks = {};
};

/// Makes marks for missing values missing, where they can be no measurements.
FoundMarks without_marks(std::vector<std::pair<double, double>>& samples);

}  // namespace assay::analysis
