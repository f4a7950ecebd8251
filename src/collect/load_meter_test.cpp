// SPDX-License-Identifier: Apache-2.0
#include "load_meter.h"

#include "background.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace assay::collect {
namespace {

constexpr const char* kStat =
    "cpu  130 0 20 150 0 0 0 0 30 0\n"
    "cpu0 100 0 10 50 5 1 2 3 30 0\n"
    "cpu1 30 0 10 100 0 0 0 0 0 0\n"
    "cpu10 1000 0 0 0 0 0 0 0 0 0\n"
    "intr 12 1 2\n";

TEST(LoadMeter, adds_up_the_chosen_cores_without_counting_guests_twice) {
  const CpuTimes one = parse_cpu_times(kStat, {0});
  EXPECT_DOUBLE_EQ(one.all, 171);
  EXPECT_DOUBLE_EQ(one.idle, 50);
  const CpuTimes two = parse_cpu_times(kStat, {0, 1});
  EXPECT_DOUBLE_EQ(two.all, 311);
  EXPECT_DOUBLE_EQ(two.idle, 150);
}

TEST(LoadMeter, is_busy_where_it_is_not_idle) {
  EXPECT_EQ(LoadMeter::percent({100, 200}, {125, 300}), 75);
  EXPECT_EQ(LoadMeter::percent({100, 200}, {90, 300}), 100);  // idle may step back
}

TEST(LoadMeter, what_cannot_be_read_is_not_idle) {
  EXPECT_FALSE(LoadMeter::percent({100, 200}, {100, 200}));
  EXPECT_FALSE(LoadMeter::percent({100, 200}, {std::nan(""), 300}));
  EXPECT_FALSE(LoadMeter({.cpus = {0}}, SysRoot("/nowhere")).window());
}

TEST(Background, begins_idle_and_is_the_same_for_the_same_words) {
  EXPECT_EQ(draw_background(Load::stress, 4, 1, "net", 0).text(), "idle");
  EXPECT_EQ(draw_background(Load::idle, 4, 1, "net", 7).text(), "idle");
  EXPECT_EQ(draw_background(Load::stress, 4, 1, "net", 7).text(),
            draw_background(Load::stress, 4, 1, "net", 7).text());
}

TEST(Background, uses_all_numbers_of_cores_and_never_more) {
  std::set<int> workers;
  std::set<int> percents;
  for (int i = 1; i < 500; ++i) {
    const Background drawn = draw_background(Load::stress, 4, 0, "net", i);
    workers.insert(drawn.workers);
    percents.insert(drawn.percent);
  }
  EXPECT_EQ(workers, (std::set<int>{1, 2, 3, 4}));
  EXPECT_EQ(*percents.begin(), 10);
  EXPECT_EQ(*percents.rbegin(), 100);
}

TEST(Background, of_a_part_of_a_core_is_a_part_of_that) {
  int most = 0;
  for (int i = 1; i < 500; ++i) {
    const Background drawn = draw_background(Load::stress, 0.5, 0, "net", i);
    EXPECT_EQ(drawn.workers, 1);
    most = std::max(most, drawn.percent);
  }
  EXPECT_EQ(most, 50);
}

}  // namespace
}  // namespace assay::collect
