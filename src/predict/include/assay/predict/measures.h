// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay::predict {

/// A time that was told before, and what it was. Both in seconds, above zero.
struct Judged {
  double predicted = 0;
  double actual = 0;
};

/// How well times were told. Shares are from 0 to 1.
struct Accuracy {
  size_t count = 0;
  double mean_error = 0;              ///< of the differences' sizes, in seconds
  double root_mean_square_error = 0;  ///< in seconds
  double r_squared = 0;               ///< of the times
  double mean_relative_error = 0;     ///< MAPE as a share
  double median_relative_error = 0;
  double within_tenth = 0;  ///< share whose relative error is at most 10 %
  double spearman = 0;      ///< 0 when all are the same
  double bounded_error =
      0;  ///< mean size in logarithms, none above a half; where ways are compared
};
Accuracy accuracy(std::span<const Judged> all);

/// The correlation of ranks; equal values share theirs. 0 when one side is all the same.
double spearman(std::span<const double> a, std::span<const double> b);

/// How well the fastest was found among several.
struct Choices {
  size_t count = 0;
  double right = 0;        ///< share in which the fastest was picked
  double mean_regret = 0;  ///< time on the picked one over the time on the fastest, less one
};
/// Each inner list is one choice: the same work on each device. Lists of fewer than two are left
/// out.
Choices judge_choices(std::span<const std::vector<Judged>> choices);

/// The share of times that lie within their intervals.
struct Interval {
  double low = 0;
  double high = 0;
  double actual = 0;
};
double coverage(std::span<const Interval> all);

}  // namespace assay::predict
