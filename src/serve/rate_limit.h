// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include <assay/base/time.h>

namespace assay::serve {

/// How often each caller may ask: so many times a second, and twice as many at once after a rest.
/// Bounded in memory, whoever calls.
class RateLimit {
 public:
  explicit RateLimit(double per_second) : per_second_(per_second) {}

  bool allows(const std::string& caller, Timestamp now);

 private:
  struct Bucket {
    double left = 0;
    Timestamp last = {};
  };
  static constexpr size_t kMostCallers = 4096;

  double burst() const { return std::max(1.0, 2 * per_second_); }
  void forget_rested(Timestamp now);

  double per_second_;
  std::map<std::string, Bucket> buckets_;
};

}  // namespace assay::serve
