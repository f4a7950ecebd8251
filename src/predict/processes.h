// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <assay/predict/learn.h>

namespace assay::predict {

using Values = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kUsualInverseLength = 0.3;

/// The kernel between the rows of two tables of standardized features.
Eigen::MatrixXd kernel_of(const Kernel& kernel, const Values& a, const Values& b);

/// The kernel under which the tasks' values (tasks x items, NaN where there is none) are most
/// likely, together with a weak belief that it is near the usual one. Found from some of the tasks.
Kernel likely_kernel(const Values& items, const Values& tasks);

/// Mean of two processes: one for each task by itself, in which values far off have little say, and
/// one over what the tasks have in common.
Process fit_process(const Kernel& kernel, const Values& items, const Values& tasks);

}  // namespace assay::predict
