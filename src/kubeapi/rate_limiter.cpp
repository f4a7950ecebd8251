// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <assay/kubeapi/rate_limiter.h>

namespace assay::kubeapi {
namespace {

constexpr double kSlowest = 0.001;

/// Not a moment too short.
Milliseconds waiting(Nanoseconds time) {
  return std::chrono::ceil<Milliseconds>(time);
}

}  // namespace

RateLimiter::RateLimiter(const Clock& clock, Rate rate)
    : clock_(clock),
      rate_{.per_second = std::max(rate.per_second, kSlowest), .burst = std::max(rate.burst, 1.0)},
      left_(rate_.burst),
      since_(clock.now()),
      held_until_(since_) {}

Milliseconds RateLimiter::take() {
  const Timestamp now = clock_.now();
  left_ = std::min(rate_.burst, left_ + seconds(now - since_) * rate_.per_second);
  since_ = now;
  if (now < held_until_) return waiting(held_until_ - now);
  if (left_ < 1)
    return std::max(Milliseconds(1), waiting(from_seconds((1 - left_) / rate_.per_second)));
  left_ -= 1;
  return Milliseconds(0);
}

void RateLimiter::hold(Milliseconds time) {
  held_until_ = std::max(held_until_, clock_.now() + time);
}

}  // namespace assay::kubeapi
