// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
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

}  // namespace assay::analysis
