// SPDX-License-Identifier: Apache-2.0
#include "window.h"

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

constexpr auto kStart = from_unix_ns(1'700'000'000'000'000'000);
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Window, sums_up_the_samples_of_a_time) {
  Window window;
  for (int i = 1; i <= 100; ++i) window.add(kStart + seconds(i), i);
  const auto now = kStart + seconds(100);
  const auto last = window.over(seconds(10), now);
  ASSERT_TRUE(last);
  EXPECT_DOUBLE_EQ(last->mean, 95) << "of 90 to 100";
  EXPECT_DOUBLE_EQ(last->max, 100);
  const auto all = window.over(minutes(5), now);
  EXPECT_DOUBLE_EQ(all->mean, 50.5);
  EXPECT_DOUBLE_EQ(all->p95, 95);
  EXPECT_EQ(window.latest(), 100);
}

TEST(Window, without_samples_has_nothing_to_say) {
  Window window;
  EXPECT_FALSE(window.over(seconds(10), kStart));
  EXPECT_FALSE(window.latest());
  window.add(kStart, 1);
  EXPECT_FALSE(window.over(seconds(10), kStart + seconds(11))) << "too old";
}

TEST(Window, forgets_the_oldest_when_it_is_full) {
  Window window(4);
  for (int i = 0; i < 10; ++i) window.add(kStart + seconds(i), i);
  const auto all = window.over(minutes(5), kStart + seconds(9));
  EXPECT_DOUBLE_EQ(all->mean, 7.5);
}

TEST(Window, goes_on_where_its_milliseconds_wrap_around) {
  // 2^32 milliseconds are full after 398 times.
  constexpr auto kWrap = from_unix_ns(398 * (int64_t{1} << 32) * 1'000'000);
  Window window;
  for (int i = -20; i < 20; ++i) window.add(kWrap + seconds(i), i);
  const auto last = window.over(seconds(30), kWrap + seconds(19));
  ASSERT_TRUE(last);
  EXPECT_DOUBLE_EQ(last->mean, 4) << "of -11 to 19";
}

TEST(Window, a_clock_that_was_set_back_hides_nothing_new) {
  Window window;
  window.add(kStart, 1);
  window.add(kStart - minutes(60), 3);
  EXPECT_DOUBLE_EQ(window.over(seconds(10), kStart - minutes(60))->mean, 2);
}

}  // namespace
}  // namespace assay::agent
