// SPDX-License-Identifier: Apache-2.0
#include <assay/kubeapi/rate_limiter.h>
#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

class RateLimiterTest : public ::testing::Test {
 protected:
  /// As a caller does that waits when it is told to.
  int sent_within(RateLimiter& limiter, Milliseconds time) {
    int sent = 0;
    const Timestamp end = clock_.now() + time;
    while (clock_.now() < end) {
      const Milliseconds wait = limiter.take();
      if (wait.count() == 0) ++sent;
      clock_.advance(wait);
    }
    return sent;
  }

  ManualClock clock_{from_unix_ns(1'000'000'000)};
};

TEST_F(RateLimiterTest, lets_a_burst_through_and_then_so_many_a_second) {
  RateLimiter limiter(clock_, {.per_second = 4, .burst = 3});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.take(), Milliseconds(0));
  EXPECT_EQ(limiter.take(), Milliseconds(250));
  EXPECT_EQ(limiter.take(), Milliseconds(250)) << "what was not sent does not count";
  clock_.advance(Milliseconds(250));
  EXPECT_EQ(limiter.take(), Milliseconds(0));
  EXPECT_EQ(limiter.take(), Milliseconds(250));
  clock_.advance(std::chrono::hours(1));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.take(), Milliseconds(0));
  EXPECT_GT(limiter.take(), Milliseconds(0)) << "a long rest saves no more than a burst";
}

TEST_F(RateLimiterTest, keeps_its_rate_over_a_long_time) {
  RateLimiter limiter(clock_, {.per_second = 7, .burst = 1});
  EXPECT_NEAR(sent_within(limiter, Milliseconds(60'000)), 7 * 60, 3);
}

TEST_F(RateLimiterTest, sends_nothing_while_the_server_wants_to_be_left_alone) {
  RateLimiter limiter(clock_, {.per_second = 10, .burst = 10});
  limiter.hold(Milliseconds(5000));
  limiter.hold(Milliseconds(1000));
  EXPECT_EQ(limiter.take(), Milliseconds(5000));
  clock_.advance(Milliseconds(4999));
  EXPECT_EQ(limiter.take(), Milliseconds(1));
  clock_.advance(Milliseconds(1));
  EXPECT_EQ(limiter.take(), Milliseconds(0));
}

TEST_F(RateLimiterTest, of_nothing_still_lets_something_through) {
  RateLimiter limiter(clock_, {.per_second = 0, .burst = 0});
  EXPECT_EQ(limiter.take(), Milliseconds(0));
  EXPECT_EQ(limiter.take(), Milliseconds(1'000'000));
}

}  // namespace
}  // namespace assay::kubeapi
