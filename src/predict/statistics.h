// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace assay::predict {

/// 0 of nothing.
double median(std::vector<double> values);
/// Between the two nearest values where `share` (0 to 1) falls between them; 0 of nothing.
double quantile(std::vector<double> values, double share);

}  // namespace assay::predict
