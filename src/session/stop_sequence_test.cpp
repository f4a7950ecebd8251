// SPDX-License-Identifier: Apache-2.0
#include "stop_sequence.h"

#include <gtest/gtest.h>

namespace assay::session {
namespace {

using launch::StopStep;
using std::chrono::seconds;

constexpr Timestamp kStart = from_unix_ns(0);

TEST(StopSequence, asks_three_times_each_more_firmly) {
  StopSequence stop(seconds(10));
  EXPECT_EQ(stop.step(kStart), std::nullopt) << "nothing happens before it begins";
  stop.begin(kStart);
  EXPECT_EQ(stop.step(kStart), StopStep::interrupt);
  EXPECT_EQ(stop.step(kStart + seconds(9)), std::nullopt);
  EXPECT_EQ(stop.step(kStart + seconds(10)), StopStep::terminate);
  EXPECT_EQ(stop.step(kStart + seconds(14)), std::nullopt);
  EXPECT_EQ(stop.step(kStart + seconds(15)), StopStep::kill);
  EXPECT_EQ(stop.due(), std::nullopt);
  EXPECT_EQ(stop.step(kStart + seconds(100)), std::nullopt);
}

TEST(StopSequence, beginning_twice_changes_nothing) {
  StopSequence stop(seconds(10));
  stop.begin(kStart);
  (void)stop.step(kStart);
  stop.begin(kStart + seconds(1));
  EXPECT_EQ(stop.due(), kStart + seconds(10));
}

TEST(StopSequence, hurry_skips_the_wait) {
  StopSequence stop(seconds(10));
  stop.hurry(kStart);
  EXPECT_EQ(stop.step(kStart), StopStep::interrupt);
  stop.hurry(kStart);
  EXPECT_EQ(stop.step(kStart), StopStep::terminate);
  stop.hurry(kStart);
  EXPECT_EQ(stop.step(kStart), StopStep::kill);
  stop.hurry(kStart);
  EXPECT_EQ(stop.step(kStart), std::nullopt);
}

}  // namespace
}  // namespace assay::session
