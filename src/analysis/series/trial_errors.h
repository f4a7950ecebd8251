// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "forecast_method.h"

#include <span>
#include <vector>

namespace assay::analysis {

/// How far from the value a forecast's intervals reach.
struct Widths {
  double in80 = 0;
  double in95 = 0;
};

/// What a method missed when it was tried: a row for each place it started from, with one error for
/// each value ahead of it; NaN where nobody knows what it was.
struct TrialErrors {
  std::vector<std::vector<double>> rows;

  double mean() const;  ///< of the absolute errors
  /// For each value ahead, from the errors at about that distance; none when there is none.
  std::vector<Widths> widths(size_t horizon) const;
};

/// The errors of the weighted mean of methods that were tried at the same places.
TrialErrors together(const std::vector<TrialErrors>& trials, const std::vector<double>& weights);

/// The places at the end of a series from which methods are tried.
class TrialWindows {
 public:
  TrialWindows(size_t length, size_t horizon);
  /// How many values of the series come before all of them.
  size_t trained() const { return trained_; }
  /// `known` is the series before its gaps were filled: a missing value is not finite.
  TrialErrors tried(ForecastMethod& method, std::span<const double> series,
                    std::span<const double> known) const;

 private:
  size_t horizon_ = 1;
  size_t trained_ = 0;
  size_t step_ = 1;
};

}  // namespace assay::analysis
