// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "intervals.h"

#include <vector>

#include <assay/analysis/run_analysis.h>

namespace assay::analysis {

using Lines = std::vector<std::pair<std::string, Distribution>>;

/// Weighted by the part of each interval that lies between `from` and `to`. A percentile is the
/// smallest value that held, together with those below it, for that share of the time.
Distribution distribution_of(const std::vector<Interval>& intervals, Timestamp from, Timestamp to);

/// One weight each.
Distribution distribution_of(const std::vector<double>& values);

/// A distribution of which only one number is known.
Distribution single_value(double value, std::string unit, std::string source);

}  // namespace assay::analysis
