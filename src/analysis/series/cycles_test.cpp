// SPDX-License-Identifier: Apache-2.0
#include "../testing/made_series.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include <assay/analysis/cycles.h>
#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

std::vector<double> wave(size_t length, double period, double noise = 0.3) {
  std::mt19937_64 engine(7);
  std::normal_distribution<> normal;
  std::vector<double> values(length);
  for (size_t i = 0; i < length; ++i)
    values[i] =
        std::sin(2 * std::numbers::pi * static_cast<double>(i) / period) + noise * normal(engine);
  return values;
}

TEST(FindCycles, tells_the_period_of_a_wave_between_whole_samples) {
  for (const double period : {3.7, 7.3, 24.0, 91.4}) {
    const auto cycles = find_cycles(wave(1000, period));
    ASSERT_EQ(cycles.size(), 1) << period;
    EXPECT_NEAR(cycles[0].period / period, 1, 0.005);
    EXPECT_GT(cycles[0].confidence, 0.6);
    EXPECT_GT(cycles[0].share, 0.6);
  }
}

TEST(FindCycles, is_not_led_astray_by_a_trend_a_step_gaps_and_outliers) {
  auto values = wave(900, 31);
  for (size_t i = 0; i < values.size(); ++i) values[i] += 0.01 * static_cast<double>(i);
  for (size_t i = 500; i < values.size(); ++i) values[i] -= 3;
  for (size_t i = 200; i < 260; ++i) values[i] = std::numeric_limits<double>::quiet_NaN();
  values[100] = 1e6;
  values[101] = std::numeric_limits<double>::infinity();
  const auto cycles = find_cycles(values);
  ASSERT_EQ(cycles.size(), 1);
  EXPECT_NEAR(cycles[0].period, 31, 0.3);
}

TEST(FindCycles, of_values_that_spread_over_magnitudes_the_few_largest_do_not_hide_the_rest) {
  auto values = wave(700, 24);
  for (size_t i = 0; i < values.size(); ++i) {
    const bool surge = (i >= 180 && i < 200) || (i >= 430 && i < 445);
    values[i] = (surge ? 20 : 1) * std::exp(4 + 1.5 * values[i]);
  }
  const auto cycles = find_cycles(values);
  ASSERT_FALSE(cycles.empty());
  EXPECT_NEAR(cycles[0].period, 24, 0.2);
}

TEST(FindCycles, tells_iterations_within_epochs) {
  // Steps of 7 s, of which 5 compute; every 20 steps the model is tried for 14 s.
  std::vector<double> use;
  for (int epoch = 0; epoch < 12; ++epoch) {
    for (int step = 0; step < 20; ++step)
      for (int second = 0; second < 7; ++second) use.push_back(second < 5 ? 0.95 : 0.2);
    use.insert(use.end(), 14, 0.5);
  }
  const auto cycles = find_cycles(use);
  ASSERT_GE(cycles.size(), 2);
  std::vector<double> periods = {cycles[0].period, cycles[1].period};
  std::sort(periods.begin(), periods.end());
  EXPECT_NEAR(periods[0], 7, 0.1);
  EXPECT_NEAR(periods[1], 154, 2);
}

TEST(FindCycles, tells_the_day_of_a_week_of_minutes) {
  std::mt19937_64 engine(5);
  std::normal_distribution<> normal;
  std::vector<double> load(size_t{7} * 1440);
  for (size_t i = 0; i < load.size(); ++i) {
    const size_t minute = i % 1440;
    load[i] = (minute >= 480 && minute < 1140 ? 60 : 10) + 1e-3 * static_cast<double>(i) +
              8 * normal(engine);
  }
  std::fill_n(load.begin() + 3000, 200, std::nan(""));
  const auto cycles = find_cycles(load);
  ASSERT_EQ(cycles.size(), 1);
  EXPECT_NEAR(cycles[0].period, 1440, 15);
}

TEST(FindCycles, tells_a_tide_and_the_days_beside_it) {
  std::mt19937_64 engine(3);
  std::normal_distribution<> normal;
  for (const size_t days : {30, 60, 180})
    for (const double day : {0.4, 0.7, 1.0}) {
      std::vector<double> level(24 * days);
      for (size_t i = 0; i < level.size(); ++i) {
        const double turn = 2 * std::numbers::pi * static_cast<double>(i);
        level[i] = std::sin(turn / 12.42 + 1) + day * std::sin(turn / 24) + 0.1 * normal(engine);
      }
      const auto cycles = find_cycles(level);
      ASSERT_EQ(cycles.size(), 2) << days << " " << day;
      EXPECT_NEAR(std::min(cycles[0].period, cycles[1].period), 12.42, 0.02);
      EXPECT_NEAR(std::max(cycles[0].period, cycles[1].period), 24, 0.25);
    }
}

TEST(FindCycles, turns_of_what_is_near_a_cycle_are_none_of_their_own) {
  // The tides of the moon and of the sun.
  std::mt19937_64 engine(3);
  std::normal_distribution<> normal;
  for (const size_t days : {30, 60, 90, 180, 365}) {
    std::vector<double> level(24 * days);
    for (size_t i = 0; i < level.size(); ++i) {
      const double turn = 2 * std::numbers::pi * static_cast<double>(i);
      level[i] =
          1.5 * std::cos(turn / 12.4206) + 0.5 * std::cos(turn / 12 + 1) + 0.05 * normal(engine);
    }
    const auto cycles = find_cycles(level);
    ASSERT_FALSE(cycles.empty()) << days;
    EXPECT_NEAR(cycles[0].period, 12.42, 0.02) << days;
    for (const auto& cycle : cycles) EXPECT_LT(cycle.period, 13) << days;
  }
}

TEST(FindCycles, tells_nothing_between_iterations_and_epochs_that_begin_them_anew) {
  std::mt19937_64 engine(7);
  std::normal_distribution<> normal;
  for (const auto& [iteration, epoch] :
       {std::pair{7, 300}, std::pair{11, 420}, std::pair{17, 420}, std::pair{9, 250}}) {
    std::vector<double> values(3600);
    for (int i = 0; i < 3600; ++i) {
      const int at = i % epoch;
      const bool busy = at < epoch - 20 && 10 * (at % iteration) < 7 * iteration;
      values[static_cast<size_t>(i)] = (busy ? 92 : at < epoch - 20 ? 30 : 5) + 2 * normal(engine);
    }
    const auto cycles = find_cycles(values);
    EXPECT_EQ(cycles.size(), 2) << iteration;
    for (const auto& cycle : cycles)
      EXPECT_TRUE(std::abs(cycle.period / iteration - 1) < 0.02 ||
                  std::abs(cycle.period / epoch - 1) < 0.02)
          << cycle.period << " for " << iteration << " in " << epoch;
  }
}

TEST(FindCycles, tells_four_turns_and_each_of_them_where_both_are_there) {
  auto values = wave(1200, 7);
  const auto longer = wave(1200, 28, 0);
  for (size_t i = 0; i < values.size(); ++i) values[i] += 0.6 * longer[i];
  const auto cycles = find_cycles(values);
  ASSERT_EQ(cycles.size(), 2);
  EXPECT_NEAR(cycles[0].period, 7, 0.1);
  EXPECT_NEAR(cycles[1].period, 28, 0.4);
}

TEST(FindCycles, the_strongest_is_first) {
  auto values = wave(4000, 24);
  const auto slow = wave(4000, 168, 0);
  for (size_t i = 0; i < values.size(); ++i) values[i] += 2 * slow[i];
  const auto cycles = find_cycles(values);
  ASSERT_EQ(cycles.size(), 2);
  EXPECT_NEAR(cycles[0].period, 168, 2);
  EXPECT_NEAR(cycles[1].period, 24, 0.2);
  EXPECT_GT(cycles[0].share, cycles[1].share);
}

TEST(FindCycles, is_silent_about_what_has_none_or_is_none) {
  EXPECT_TRUE(find_cycles({}).empty());
  EXPECT_TRUE(find_cycles(std::vector<double>(15, 1)).empty());
  EXPECT_TRUE(find_cycles(std::vector<double>(1000, 42)).empty());
  EXPECT_TRUE(find_cycles(std::vector<double>(100, std::nan(""))).empty());
  std::vector<double> line(500), huge(500, 1e300);
  for (size_t i = 0; i < line.size(); ++i) line[i] = static_cast<double>(i);
  huge[7] = -1e300;
  EXPECT_TRUE(find_cycles(line).empty());
  EXPECT_TRUE(find_cycles(huge).empty());
  EXPECT_TRUE(find_cycles(wave(80, 30)).empty()) << "not even three turns";
}

struct Counts {
  int right = 0;
  int wrong = 0;
  int missed = 0;
};

void count(const MadeSeries& made, Counts& counts) {
  auto found = find_cycles(made.values);
  for (const double period : made.periods) {
    const auto same = std::find_if(found.begin(), found.end(), [&](const Cycle& cycle) {
      return std::abs(cycle.period / period - 1) <= 0.02;
    });
    if (same == found.end()) {
      ++counts.missed;
      continue;
    }
    ++counts.right;
    found.erase(same);
  }
  counts.wrong += static_cast<int>(found.size());
}

// The bench has ten times as many, and how others do on them.
TEST(FindCycles, is_right_about_messy_series_of_every_kind) {
  Counts counts;
  for (uint64_t number = 0; number < 400; ++number) {
    count(make_cyclic(number), counts);
    count(make_without_cycle(number), counts);
  }
  const double f1 = 2.0 * counts.right / (2 * counts.right + counts.wrong + counts.missed);
  EXPECT_GE(f1, 0.975) << counts.right << " right, " << counts.wrong << " wrong, " << counts.missed
                       << " missed";
}

TEST(AutocorrelationRule, finds_a_plain_wave) {
  EXPECT_NEAR(period_by_autocorrelation_rule(wave(600, 24, 0)), 24, 1);
  EXPECT_EQ(period_by_autocorrelation_rule(std::vector<double>(100, 3)), 0);
}

}  // namespace
}  // namespace assay::analysis
