// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>
#include <random>

#include <assay/analysis/series_analysis.h>
#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

class PossibleCycle : public testing::Test {
 protected:
  double noise() { return normal_(engine_); }
  std::vector<double> wave(double period, double turns) {
    std::vector<double> values(static_cast<size_t>(period * turns));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 40 + 5 * std::sin(2 * std::numbers::pi * static_cast<double>(i) / period) +
                  0.1 * static_cast<double>(i) + noise();
    return values;
  }
  std::mt19937_64 engine_{5};
  std::normal_distribution<> normal_;
};

TEST_F(PossibleCycle, is_there_two_to_four_times) {
  for (const double period : {12, 24, 288})
    for (const double turns : {2.2, 2.5, 3.0, 3.4}) {
      const auto values = wave(period, turns);
      EXPECT_NEAR(possible_cycle(values), period, 1 + 0.05 * period) << period << " " << turns;
    }
}

TEST_F(PossibleCycle, is_there_exactly_twice) {
  for (const double period : {12, 24, 48, 96, 144}) {
    const auto values = wave(period, 2);
    const double found = possible_cycle(values);
    EXPECT_NEAR(found, period, 1 + 0.05 * period);
    EXPECT_LE(2 * found, static_cast<double>(values.size())) << "--season takes it";
  }
}

TEST_F(PossibleCycle, is_a_season_that_is_taken) {
  int found = 0;
  EvenSeries late;
  late.values = wave(24, 2);
  late.values.insert(late.values.begin(), 40, std::nan(""));
  EXPECT_NEAR(possible_cycle(late.values), 24, 2);
  EXPECT_TRUE(analyze_series(late, {.season = static_cast<size_t>(possible_cycle(late.values))}));
  for (const size_t length : {300, 500, 997, 999, 1001, 1500, 5001}) {
    EvenSeries series;
    series.values = wave(static_cast<double>(length) / 1.985, 1.985);
    const double period = possible_cycle(series.values);
    if (!(period > 0)) continue;
    ++found;
    EXPECT_TRUE(analyze_series(series, {.season = static_cast<size_t>(period)})) << length;
  }
  EXPECT_GE(found, 1);
}

TEST_F(PossibleCycle, of_four_turns_is_none) {
  for (int series = 0; series < 100; ++series) {
    auto values = wave(50, 3.9 + 0.005 * series);
    for (double& value : values) value += 2 * noise();
    const double period = possible_cycle(values);
    EXPECT_LT(static_cast<double>(values.size()), period > 0 ? 4 * period : HUGE_VAL) << period;
  }
}

TEST_F(PossibleCycle, of_what_wanders_steps_or_rises_is_rare) {
  int found = 0;
  for (int series = 0; series < 100; ++series) {
    std::vector<double> walk(72), step(72), rise(72);
    double level = 0;
    for (size_t i = 0; i < walk.size(); ++i) {
      walk[i] = level += noise();
      step[i] = (i < 30 ? 0 : 6) + noise();
      rise[i] = 0.3 * static_cast<double>(i) + noise();
    }
    for (const auto& values : {walk, step, rise}) found += possible_cycle(values) > 0;
  }
  EXPECT_LE(found, 6);
}

TEST_F(PossibleCycle, gaps_are_no_harm_and_too_little_is_none) {
  auto values = wave(24, 3);
  for (size_t i = 5; i < values.size(); i += 6) values[i] = std::nan("");
  EXPECT_NEAR(possible_cycle(values), 24, 2);
  EXPECT_EQ(possible_cycle({}), 0);
  EXPECT_EQ(possible_cycle(std::vector<double>(15, 1)), 0);
  EXPECT_EQ(possible_cycle(std::vector<double>(100, 0.1)), 0);
  EXPECT_EQ(possible_cycle(std::vector<double>(100, std::nan(""))), 0);
  std::vector<double> line(100);
  for (size_t i = 0; i < line.size(); ++i) line[i] = 0.1 * static_cast<double>(i);
  EXPECT_EQ(possible_cycle(line), 0);
}

TEST_F(PossibleCycle, far_from_zero_is_as_near_to_it) {
  for (const double level : {0.0, 1e6, -1e9}) {
    auto values = wave(24, 3);
    for (double& value : values) value += level;
    EXPECT_NEAR(possible_cycle(values), 24, 1) << level;
    std::fill(values.begin(), values.end(), level + 0.1);
    EXPECT_EQ(possible_cycle(values), 0) << level;
  }
}

TEST_F(PossibleCycle, of_a_level_that_changed_halfway_is_none) {
  for (const double rise : {0.0, 1e-4}) {
    for (int series = 0; series < 10; ++series) {
      EvenSeries river{0, 900, std::vector<double>(3000)};
      for (size_t i = 0; i < river.values.size(); ++i)
        river.values[i] =
            2 + rise * static_cast<double>(i) + 0.01 * noise() + (i > 1500 ? 0.5 : 0.0);
      const auto analysis = analyze_series(river, {});
      EXPECT_EQ(analysis->possible_cycle, 0) << rise << " " << series;
      EXPECT_EQ(analysis->changes.size(), 1) << rise << " " << series;
    }
  }
}

TEST_F(PossibleCycle, is_told_where_no_cycle_is) {
  EvenSeries series;
  series.values = wave(24, 3);
  const auto short_one = analyze_series(series, {});
  ASSERT_TRUE(short_one);
  EXPECT_TRUE(short_one->cycles.empty());
  EXPECT_NEAR(short_one->possible_cycle, 24, 1);
  EXPECT_EQ(analyze_series(series, {.season = 24})->possible_cycle, 0);
  series.values = wave(24, 10);
  const auto long_one = analyze_series(series, {});
  EXPECT_FALSE(long_one->cycles.empty());
  EXPECT_EQ(long_one->possible_cycle, 0);
}

}  // namespace
}  // namespace assay::analysis
