// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace assay::analysis {

/// Without the few that are far from all around them, for less than five in a row, as readings that
/// failed are: they are no level. Where there are many, they are what the series is like, and stay.
std::vector<double> without_lone_values(std::vector<double> values);

}  // namespace assay::analysis
