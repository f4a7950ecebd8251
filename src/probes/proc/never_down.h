// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace assay::probes {

/// Keeps a sum over live processes from going down. A short dip happens when a process ends between
/// the reads of its parent and of itself: the parent holds its part one beat later. A dip that
/// stays is a process whose part went to nobody (its parent ignores it, or was never part of the
/// app): its last known part is kept.
class NeverDown {
 public:
  /// Dips up to `tolerance` are taken for rounding and never kept.
  explicit NeverDown(double tolerance = 0) : tolerance_(tolerance) {}

  double next(double sum) {
    sum += kept_;
    if (sum >= highest_ - tolerance_) {
      dips_ = 0;
      highest_ = std::max(highest_, sum);
    } else if (++dips_ > 1) {
      kept_ += highest_ - sum;
      dips_ = 0;
    }
    return highest_;
  }

 private:
  double tolerance_;
  double highest_ = 0;
  double kept_ = 0;
  int dips_ = 0;
};

}  // namespace assay::probes
