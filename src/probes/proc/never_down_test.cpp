// SPDX-License-Identifier: Apache-2.0
#include "proc/never_down.h"

#include <gtest/gtest.h>

namespace assay::probes {
namespace {

TEST(NeverDown, bridges_a_dip_of_one_beat) {
  NeverDown total;
  EXPECT_EQ(total.next(10), 10);
  EXPECT_EQ(total.next(4), 10) << "a process ended, its parent has not been told yet";
  EXPECT_EQ(total.next(11), 11) << "and now it has: nothing is counted twice";
}

TEST(NeverDown, keeps_the_part_of_a_process_that_nobody_waits_for) {
  NeverDown total;
  total.next(10);
  total.next(4);
  EXPECT_EQ(total.next(5), 10);
  EXPECT_EQ(total.next(7), 12) << "growth shows again";
}

TEST(NeverDown, does_not_keep_rounding) {
  NeverDown total(0.05);
  total.next(10);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(total.next(9.96), 10);
  EXPECT_EQ(total.next(10.01), 10.01);
}

}  // namespace
}  // namespace assay::probes
