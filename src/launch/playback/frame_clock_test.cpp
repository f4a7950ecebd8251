// SPDX-License-Identifier: Apache-2.0
#include "playback/frame_clock.h"

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using std::chrono::nanoseconds;

TEST(FrameClock, agrees_with_itself_on_every_border) {
  const FrameClock::Clock::time_point start(std::chrono::hours(1000));
  for (const double rate : {0.1, 1.0, 9.97, 29.97, 30.0, 240.0}) {
    const FrameClock clock(start, rate);
    for (const uint64_t frame : {1UL, 2UL, 3UL, 7UL, 1001UL, 12'345'679UL}) {
      EXPECT_EQ(clock.frame_at(clock.due(frame)), frame) << rate;
      EXPECT_EQ(clock.frame_at(clock.due(frame) - nanoseconds(1)), frame - 1) << rate;
    }
  }
}

TEST(FrameClock, does_not_drift) {
  const FrameClock::Clock::time_point start;
  const FrameClock clock(start, 30);
  EXPECT_EQ(clock.due(30UL * 3600 * 24) - start, std::chrono::hours(24));
}

TEST(FrameClock, shows_the_first_frame_before_its_start) {
  const FrameClock::Clock::time_point start(std::chrono::hours(1));
  EXPECT_EQ(FrameClock(start, 30).frame_at(start - std::chrono::seconds(5)), 0U);
}

}  // namespace
}  // namespace assay::launch
