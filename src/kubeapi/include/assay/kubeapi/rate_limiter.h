// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/base/time.h>

namespace assay::kubeapi {

struct Rate {
  double per_second = 10;
  double burst = 20;  ///< so many at once after a rest; at least one
};

/// Says when the next request may be sent; it never waits itself. One thread at a time; the clock
/// has to live longer.
class RateLimiter {
 public:
  RateLimiter(const Clock& clock, Rate rate);

  /// 0: go ahead, and it is counted. Else how long to wait before asking again.
  Milliseconds take();
  /// The server wants to be left alone for so long.
  void hold(Milliseconds time);

 private:
  const Clock& clock_;
  const Rate rate_;
  double left_;
  Timestamp since_;  ///< when `left_` was true
  Timestamp held_until_;
};

}  // namespace assay::kubeapi
