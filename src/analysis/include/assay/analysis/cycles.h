// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay::analysis {

/// Something that comes again and again.
struct Cycle {
  double period = 0;      ///< in samples, not always a whole number
  double confidence = 0;  ///< 0 to 1: how alike one turn is to the next, slow changes left out
  double share = 0;       ///< 0 to 1: of the variance looked at, what this cycle alone explains
};

/// The cycles of evenly spaced values, strongest first; none for a series without. NaN is a missing
/// value. A period is only seen when it is there at least four times, and no shorter than 2.2
/// samples. Slow changes, steps, gaps and single outliers do no harm; of values that spread over
/// magnitudes the logarithms are looked at. O(n log n).
std::vector<Cycle> find_cycles(std::span<const double> values);

/// The period of what may be a cycle but is there two to four times only, too few for
/// find_cycles(): 0: there is none. Wandering values look like one now and then. NaN is a missing
/// value.
double possible_cycle(std::span<const double> values);

/// Another value of every so many samples looks alike: the rule that others use. The distances of
/// the autocorrelation's peaks above the 95 % line, their median; 0: there is none. Kept to compare
/// with; quadratic.
double period_by_autocorrelation_rule(std::span<const double> values);

}  // namespace assay::analysis
