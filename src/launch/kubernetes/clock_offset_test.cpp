// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/clock_offset.h"

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

Timestamp at(int64_t ms) {
  return Timestamp(Milliseconds(1'700'000'000'000 + ms));
}

TEST(ClockOffset, is_told_by_the_middle_of_question_and_answer) {
  ClockOffset clock;
  EXPECT_FALSE(clock.known());
  EXPECT_EQ(clock.ours(at(5)), at(5));
  clock.add(at(1000), at(1020), at(91'010));
  EXPECT_EQ(clock.offset(), Milliseconds(90'000));
  EXPECT_EQ(clock.uncertainty(), Milliseconds(10));
  EXPECT_EQ(clock.ours(at(92'000)), at(2000));
}

TEST(ClockOffset, the_quickest_answer_counts) {
  ClockOffset clock;
  clock.add(at(0), at(100), at(-4910));  // made late: 40 ms off
  clock.add(at(1000), at(1004), at(-3998));
  clock.add(at(2000), at(2300), at(-2701));  // made at its end: 149 ms off
  EXPECT_EQ(clock.offset(), Milliseconds(-5000));
  EXPECT_EQ(clock.uncertainty(), Milliseconds(2));
}

TEST(ClockOffset, an_old_answer_gives_way_to_one_that_is_nearly_as_quick) {
  ClockOffset clock;
  clock.add(at(0), at(4), at(2));
  clock.add(at(10'000), at(10'006), at(10'003));
  EXPECT_EQ(clock.uncertainty(), Milliseconds(2));
  // In an hour two clocks may have drifted by 180 ms.
  clock.add(at(3'600'000), at(3'600'006), at(3'600'103));
  EXPECT_EQ(clock.uncertainty(), Milliseconds(3));
  EXPECT_EQ(clock.offset(), Milliseconds(100));
}

TEST(ClockOffset, a_clock_that_was_set_is_believed_at_once) {
  ClockOffset clock;
  clock.add(at(0), at(2), at(1));
  clock.add(at(1000), at(1040), at(1035));  // slower, and in accord with the first
  EXPECT_EQ(clock.offset(), Milliseconds(0));
  clock.add(at(2000), at(2040), at(62'020));
  EXPECT_EQ(clock.offset(), Milliseconds(60'000));
  EXPECT_EQ(clock.uncertainty(), Milliseconds(20));
}

TEST(ClockOffset, our_own_clock_that_goes_back_tells_nothing) {
  ClockOffset clock;
  clock.add(at(10), at(5), at(7));
  EXPECT_FALSE(clock.known());
}

}  // namespace
}  // namespace assay::launch
