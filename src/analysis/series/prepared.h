// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace assay::analysis {

/// A series made ready to look for cycles: no trend, no outliers, variance 1. Missing values are 0.
struct Prepared {
  std::vector<double> values;
  std::vector<char> known;  ///< as long as `values`
  size_t count = 0;         ///< of known ones

  bool gaps() const { return count < values.size(); }
};

/// Empty for a series with too few values or only one. Of values above 0 that spread over
/// magnitudes, the logarithms are taken: else the few largest would be all that is seen.
Prepared prepare(std::span<const double> values);
/// Takes out what repeats with `period`; gives the variance that is left.
double remove_cycle(Prepared& series, double period);

}  // namespace assay::analysis
