// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::analysis {

/// Looks at a column of numbers that nobody called times, row by row: whether it may have some.
class NumberTimes {
 public:
  void add(double time, size_t line);
  /// Why they are no times, as in "its steps are uneven"; empty when they may be. Times in
  /// `samples`, as they were added, go one way, most of them by about the same step; without a
  /// head, or where they are as large as seconds since 1970, by any.
  std::string doubt(const std::vector<std::pair<double, double>>& samples, bool head) const;

 private:
  size_t count_ = 0, rises_ = 0, falls_ = 0;
  size_t first_rise_ = 0, first_fall_ = 0, first_repeat_ = 0;  ///< lines
  double last_ = 0;
};

/// Whether the head of a column says that it has times, in any order: `time`, `Time (s)`,
/// `unix_ms`, `Datum`; but not `response time`.
bool names_times(std::string_view head);

/// Whether the last word of the head says that the numbers below it are positions: `global_step`,
/// `Epoch`, `n`.
bool counts_rows(std::string_view head);

/// Whether times under a head that says `date` are as spreadsheets count days.
bool may_be_serials(const std::vector<std::pair<double, double>>& samples, std::string_view head);

}  // namespace assay::analysis
