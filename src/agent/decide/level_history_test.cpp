// SPDX-License-Identifier: Apache-2.0
#include "decide/level_history.h"

#include <functional>

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

using std::chrono::seconds;

/// So many seconds of one level a second.
LevelHistory history_of(int length, const std::function<double(int second)>& level) {
  LevelHistory history;
  for (int second = 0; second < length; ++second)
    history.add(from_unix_ns(0) + seconds(1000 + second), level(second));
  return history;
}

TEST(LevelHistory, sees_a_steady_growth) {
  const auto growth = history_of(600, [](int s) { return 100e6 + s * 1e5; }).growth();
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->per_second, 1e5, 1e3);
}

TEST(LevelHistory, sees_a_growth_under_a_saw_of_collected_garbage) {
  const auto saw = [](int s) { return 100e6 + s * 1e5 + (s % 7) * 3e6; };
  EXPECT_TRUE(history_of(1200, saw).growth());
}

TEST(LevelHistory, sees_a_slow_growth_over_days) {
  const auto growth = history_of(200'000, [](int s) { return 100e6 + s * 200.0; }).growth();
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->per_second, 200, 5);
}

TEST(LevelHistory, what_settles_swings_or_jumps_does_not_grow) {
  EXPECT_FALSE(history_of(600, [](int s) { return 100e6 + std::min(s, 200) * 5e5; }).growth());
  EXPECT_FALSE(history_of(600, [](int s) { return 100e6 + (s % 120) * 1e6; }).growth());
  EXPECT_FALSE(history_of(600, [](int s) { return s < 300 ? 100e6 : 200e6; }).growth());
  EXPECT_FALSE(history_of(600, [](int /*s*/) { return 100e6; }).growth());
}

TEST(LevelHistory, what_is_small_or_young_is_not_told) {
  EXPECT_FALSE(history_of(600, [](int s) { return 100e6 + s * 1e3; }).growth());
  EXPECT_FALSE(history_of(100, [](int s) { return 100e6 + s * 1e6; }).growth());
}

}  // namespace
}  // namespace assay::agent
