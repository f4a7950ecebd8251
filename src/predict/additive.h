// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include <assay/predict/grid.h>

namespace assay::predict {

/// Seconds as a sum over costs that may count the same work more than once, so that some take less
/// than nothing. For tasks with many more times than costs; fit_base() is for the others.
struct Additive {
  std::vector<double> coefficients;  ///< the constant part first
  double least = 0;                  ///< nothing is told to take less
};

/// As near as can be in relative terms; times far off have little say. `ridge` draws coefficients
/// to zero, relative to the number of times.
Additive fit_additive(const Grid& costs, std::span<const double> seconds, double ridge);

double seconds_of(const Additive& additive, std::span<const double> costs);

}  // namespace assay::predict
