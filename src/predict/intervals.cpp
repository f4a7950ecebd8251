// SPDX-License-Identifier: Apache-2.0
#include "statistics.h"

#include <algorithm>
#include <cmath>

#include <assay/predict/intervals.h>

namespace assay::predict {
namespace {

constexpr double kLeaning = 10;  ///< errors that the common shape counts for
constexpr double kLeastMedian = 1e-12;

std::vector<double> sizes_of(std::span<const double> errors) {
  std::vector<double> sizes;
  for (const double error : errors)
    if (!std::isnan(error)) sizes.push_back(std::abs(error));
  return sizes;
}

}  // namespace

std::vector<double> half_widths(const Grid& errors, double share) {
  std::vector<double> medians;
  std::vector<double> shape;
  for (size_t task = 0; task < errors.rows; ++task) {
    const auto sizes = sizes_of(errors.row(task));
    medians.push_back(std::max(median(sizes), kLeastMedian));
    for (const double size : sizes) shape.push_back(size / medians.back());
  }
  const double common = quantile(std::move(shape), share);
  std::vector<double> widths;
  for (size_t task = 0; task < errors.rows; ++task) {
    auto sizes = sizes_of(errors.row(task));
    const auto count = static_cast<double>(sizes.size());
    const double own = quantile(std::move(sizes), share * (count + 1) / std::max(count, 1.0));
    widths.push_back((count * own + kLeaning * common * medians[task]) / (count + kLeaning));
  }
  return widths;
}

}  // namespace assay::predict
