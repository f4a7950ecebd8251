// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::analysis {

/// Looks at the rows of a table without a head, one after the other: 2,031 may be a time and a
/// value, or one number with a comma for its thousands or its decimals.
class CommaNumbers {
 public:
  void add(const std::vector<std::string>& cells);
  /// Whether every row may be one number, and the first cells do not count up or down as times do;
  /// those are in `samples`.
  bool found(const std::vector<std::pair<double, double>>& samples) const;

 private:
  bool all_ = true;
  bool padded_ = false;  ///< 031: nobody begins a number like that
  bool short_ = true;    ///< no first cell is as long as seconds since 1970 are
};

/// Looks at the values of a table with decimal commas, one after the other: 1.000 behind 999 may be
/// a thousand.
class PointNumbers {
 public:
  void add(std::string_view cell, size_t line);
  /// Whether every number may have points for its thousands, some have one, and those that need
  /// none are without; so decimals, which are written alike or without their last zeros, are not
  /// found.
  bool found() const { return all_ && whole_ && first_line_ > 0; }
  const std::string& first() const { return first_; }
  size_t first_line() const { return first_line_; }

 private:
  bool all_ = true;
  bool whole_ = false;  ///< there was one below a thousand
  std::string first_;   ///< with a point
  size_t first_line_ = 0;
};

}  // namespace assay::analysis
