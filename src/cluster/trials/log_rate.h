// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/cluster/scaling_law.h>

namespace assay::cluster {

/// A regular expression (as ECMAScript has them) with one group, which is a number.
class LogPattern {
 public:
  static Result<LogPattern> compile(const std::string& text);

  /// The number in a line; nothing when it does not match. Very long lines do not.
  std::optional<double> find(std::string_view line) const;

 private:
  explicit LogPattern(std::regex regex) : regex_(std::move(regex)) {}
  std::regex regex_;
};

struct LogNumber {
  Timestamp time;
  double value = 0;
};
/// Of a pod's log with time stamps, as the API server gives it.
std::vector<LogNumber> numbers_in(std::string_view log, const LogPattern& pattern);

/// Units per second within a time: of a count that grows by its slope, of rates by their median.
/// Its sd is relative; 0: not known. Nothing when there are too few numbers.
std::optional<Estimate> rate_of(const std::vector<LogNumber>& numbers, bool counts, Timestamp from,
                                Timestamp to);

/// Why that has nothing.
std::string why_no_rate(const std::vector<LogNumber>& numbers, bool counts, Timestamp from,
                        Timestamp to);

}  // namespace assay::cluster
