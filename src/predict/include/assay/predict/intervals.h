// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <assay/predict/grid.h>

namespace assay::predict {

/// How far from what is told, up and down in logarithms of time, a task's times lie in the given
/// share of cases, by its errors where they are known (tasks x items, else NaN). Tasks with few of
/// them lean on the shape that all tasks' errors have.
std::vector<double> half_widths(const Grid& errors, double share);

}  // namespace assay::predict
