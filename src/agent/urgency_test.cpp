// SPDX-License-Identifier: Apache-2.0
#include "urgency.h"

#include <sched.h>
#include <thread>

#include <assay/base/time.h>
#include <gtest/gtest.h>

namespace assay::agent {
namespace {

int policy() {
  return ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

bool may_be_urgent() {
  sched_param least{};
  least.sched_priority = 1;
  const bool may = ::sched_setscheduler(0, SCHED_RR, &least) == 0;
  least.sched_priority = 0;
  ::sched_setscheduler(0, SCHED_OTHER, &least);
  return may;
}

TEST(Urgency, is_for_the_main_thread_alone_and_ends_when_it_does_not_wait) {
  if (!may_be_urgent()) GTEST_SKIP() << "only root may";
  ASSERT_TRUE(run_when_woken());
  EXPECT_EQ(policy(), SCHED_RR);
  EXPECT_TRUE(runs_when_woken());
  std::thread([] {
    EXPECT_EQ(policy(), SCHED_OTHER);
    EXPECT_FALSE(run_when_woken());
  }).join();
  const SystemClock clock;
  const auto end = clock.now() + std::chrono::seconds(20);
  while (policy() == SCHED_RR && clock.now() < end) {
  }
  EXPECT_EQ(policy(), SCHED_OTHER);
  EXPECT_FALSE(runs_when_woken());
  EXPECT_TRUE(run_when_woken()) << "and may be so again";
  const sched_param none{};
  ::sched_setscheduler(0, SCHED_OTHER, &none);
}

}  // namespace
}  // namespace assay::agent
