// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "intervals.h"

#include <optional>
#include <vector>

namespace assay::analysis {

struct Growth {
  double first = 0;
  double last = 0;
  double per_second = 0;
  Nanoseconds over{0};
};

/// A level that rises steadily until the end. The time is cut into equal parts, of which the
/// medians are compared: nearly every later one must be higher, the median slope (Theil and Sen)
/// must add up to a tenth of the first, and the second half must still rise at half that slope. So
/// a level that settles, swings, or jumps once is not growing.
std::optional<Growth> steady_growth(const std::vector<Interval>& levels, Timestamp from,
                                    Timestamp to);

}  // namespace assay::analysis
