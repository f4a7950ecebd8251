// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace assay::analysis {

/// Times that are the same day of their months, or the last one, at the same time of the day.
struct CalendarMonths {
  int step = 1;       ///< from one to the next, in months
  bool ends = false;  ///< they are the last days
};

/// Times are of the calendar up to here: as far as std::chrono knows years, in seconds since 1970.
inline constexpr double kFarthestMonth = 9e11;

/// Of samples in their order, by seconds since 1970. Nothing: they are other times.
std::optional<CalendarMonths> calendar_months(const std::vector<std::pair<double, double>>& sorted);
/// So many months after that time.
double months_later(double time, int64_t months, bool ends);

}  // namespace assay::analysis
