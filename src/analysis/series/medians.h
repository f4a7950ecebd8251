// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace assay::analysis {

/// Of some values at least, which it puts into another order.
inline double median_of(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The deviation of noise whose values differ from each other by this much, whatever a few do.
inline double deviation_by(std::span<double> differences) {
  constexpr double kMedianOfDeviation = 0.6745;
  return median_of(differences) / (kMedianOfDeviation * std::sqrt(2.0));
}

}  // namespace assay::analysis
