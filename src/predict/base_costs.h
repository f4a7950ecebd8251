// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include <assay/predict/grid.h>

namespace assay::predict {

/// Seconds for each unit of cost, none below zero, so that costs times these come near the times
/// in relative terms. The first is a constant part. Times far off have little say, and coefficients
/// are drawn to zero a little. `log_times` has NaN where nothing was measured.
std::vector<double> fit_base(const Grid& costs, std::span<const double> log_times);

/// The logarithm of the additive estimate for one item.
double base_of(std::span<const double> coefficients, std::span<const double> costs);

/// The x, none below zero, with the least x'Gx/2 - b'x, for a symmetric G that is positive
/// definite, row by row.
std::vector<double> least_squares_above_zero(const Grid& gram, std::span<const double> right);

}  // namespace assay::predict
