// SPDX-License-Identifier: Apache-2.0
#include "budget.h"

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

using std::chrono::seconds;
constexpr auto kStart = from_unix_ns(1'700'000'000'000'000'000);

/// Beats for so long at a price per second of wall time.
Timestamp live(Budget& budget, Timestamp from, int length, double share, double& cpu) {
  for (int i = 0; i < length; ++i) {
    from += seconds(1);
    cpu += share;
    budget.spent(from, cpu);
  }
  return from;
}

TEST(Budget, beats_as_wanted_while_it_is_cheap) {
  Budget budget(0.01, Milliseconds(1000));
  double cpu = 5;
  live(budget, kStart, 60, 0.005, cpu);
  EXPECT_EQ(budget.interval(), Milliseconds(1000));
  EXPECT_NEAR(budget.share(), 0.005, 1e-9);
}

TEST(Budget, beats_less_often_while_it_is_too_dear_and_comes_back) {
  Budget budget(0.01, Milliseconds(1000));
  double cpu = 0;
  Timestamp now = live(budget, kStart, 31, 0.05, cpu);
  EXPECT_EQ(budget.interval(), Milliseconds(8000));
  EXPECT_TRUE(budget.is_slowed());
  now = live(budget, now, 20, 0.008, cpu);
  EXPECT_EQ(budget.interval(), Milliseconds(8000)) << "close to its limit: it stays";
  live(budget, now, 40, 0.001, cpu);
  EXPECT_EQ(budget.interval(), Milliseconds(1000));
}

TEST(Budget, never_stops_beating) {
  Budget budget(0.01, Milliseconds(1000));
  double cpu = 0;
  live(budget, kStart, 600, 1, cpu);
  EXPECT_EQ(budget.interval(), Milliseconds(32'000));
}

TEST(Budget, without_limit_only_measures) {
  Budget budget(0, Milliseconds(1000));
  double cpu = 0;
  live(budget, kStart, 31, 0.5, cpu);
  EXPECT_EQ(budget.interval(), Milliseconds(1000));
  EXPECT_NEAR(budget.share(), 0.5, 1e-9);
}

TEST(Budget, a_clock_that_is_set_back_begins_anew) {
  Budget budget(0.01, Milliseconds(1000));
  double cpu = 0;
  live(budget, kStart, 5, 0.005, cpu);
  live(budget, kStart - std::chrono::hours(1), 30, 0.005, cpu);
  EXPECT_EQ(budget.interval(), Milliseconds(1000));
}

}  // namespace
}  // namespace assay::agent
