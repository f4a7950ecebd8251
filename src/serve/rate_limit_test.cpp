// SPDX-License-Identifier: Apache-2.0
#include "rate_limit.h"

#include <gtest/gtest.h>

namespace assay::serve {
namespace {

using namespace std::chrono_literals;

TEST(RateLimit, lets_a_burst_through_and_then_so_many_a_second) {
  RateLimit limit(2);
  Timestamp now(100s);
  int passed = 0;
  for (int i = 0; i < 10; ++i) passed += limit.allows("a", now) ? 1 : 0;
  EXPECT_EQ(passed, 4);
  EXPECT_TRUE(limit.allows("b", now));
  now += 1s;
  passed = 0;
  for (int i = 0; i < 10; ++i) passed += limit.allows("a", now) ? 1 : 0;
  EXPECT_EQ(passed, 2);
}

TEST(RateLimit, less_than_one_a_second_is_one_now_and_then) {
  RateLimit limit(0.25);
  EXPECT_TRUE(limit.allows("a", Timestamp(100s)));
  EXPECT_FALSE(limit.allows("a", Timestamp(103s)));
  EXPECT_TRUE(limit.allows("a", Timestamp(104s)));
}

TEST(RateLimit, more_callers_than_it_can_know_are_refused_until_some_have_rested) {
  RateLimit limit(1);
  const Timestamp now(100s);
  for (int i = 0; i < 4096; ++i) EXPECT_TRUE(limit.allows(std::to_string(i), now));
  EXPECT_FALSE(limit.allows("one more", now));
  EXPECT_TRUE(limit.allows("one more", now + 10s));
}

}  // namespace
}  // namespace assay::serve
