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

Options drawn_with(uint64_t seed) {
  Options options;
  options.seed = seed;
  return options;
}

TEST(Background, begins_idle_and_is_the_same_for_the_same_words) {
  EXPECT_EQ(background_of(drawn_with(1), 4, "net", 0).text(), "idle");
  EXPECT_EQ(background_of(drawn_with(1), 4, "net", 7).text(),
            background_of(drawn_with(1), 4, "net", 7).text());
  Options idle;
  idle.load = Load::idle;
  EXPECT_EQ(background_of(idle, 4, "net", 7).text(), "idle");
}

TEST(Background, uses_all_numbers_of_cores_and_never_more) {
  std::set<int> workers;
  std::set<int> percents;
  for (int i = 1; i < 500; ++i) {
    const Background drawn = background_of(drawn_with(0), 4, "net", i);
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
    const Background drawn = background_of(drawn_with(0), 0.5, "net", i);
    EXPECT_EQ(drawn.workers, 1);
    most = std::max(most, drawn.percent);
  }
  EXPECT_EQ(most, 50);
}

TEST(Background, that_is_listed_comes_in_turn) {
  Options options;
  options.backgrounds = parse_backgrounds("2x90%,idle,1x5").value();
  std::vector<std::string> texts;
  for (int i = 0; i < 4; ++i) texts.push_back(background_of(options, 4, "net", i).text());
  EXPECT_EQ(texts, (std::vector<std::string>{"2x90%", "idle", "1x5%", "2x90%"}));
}

TEST(Background, that_is_none_is_refused) {
  for (const char* text : {"", "busy", "0x50%", "2x0%", "2x101%", "x50%", "2x", "-1x50%",
                           "idle,,idle", "5000x50%", "2x50%%"})
    EXPECT_FALSE(parse_backgrounds(text)) << text;
}

}  // namespace
}  // namespace assay::collect
