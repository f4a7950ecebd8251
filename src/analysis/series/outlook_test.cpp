// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <assay/analysis/outlook.h>
#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

constexpr double kGiga = 1e9;

EvenSeries growing(double per_second, double noise) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> jitter(0, 1);
  EvenSeries series{0, 30, {}};
  for (int i = 0; i < 120; ++i)
    series.values.push_back(kGiga + per_second * 30 * i + noise * jitter(random));
  return series;
}

TEST(TimeToLimit, is_told_of_what_grows_steadily) {
  auto series = growing(1e6, 20e6);
  series.values[50] = std::numeric_limits<double>::quiet_NaN();
  const auto found = time_to_limit(series, 8 * kGiga);
  ASSERT_TRUE(found);
  const double exact = (8 * kGiga - series.values.back()) / 1e6;
  EXPECT_NEAR(found->seconds, exact, 0.05 * exact);
  EXPECT_LT(found->soonest, exact);
  EXPECT_GT(found->latest, exact);
}

TEST(TimeToLimit, is_not_told_of_others) {
  EXPECT_FALSE(time_to_limit(growing(0, 20e6), 8 * kGiga));
  EXPECT_FALSE(time_to_limit(growing(-1e5, 1e6), 8 * kGiga));
  EXPECT_FALSE(time_to_limit(growing(1e6, 1e6), kGiga)) << "it is above already";
  EXPECT_FALSE(time_to_limit({}, kGiga));
  EXPECT_FALSE(time_to_limit(growing(1e6, 1e6), 1e15)) << "in more than a month";
  EvenSeries swings{0, 30, {}};
  for (int i = 0; i < 120; ++i) swings.values.push_back(kGiga * (2 + std::sin(i / 5.0)));
  EXPECT_FALSE(time_to_limit(swings, 8 * kGiga));
}

TEST(TimeToFinish, goes_by_the_pace_of_the_steps) {
  std::vector<StepReport> reports;
  for (int i = 0; i < 50; ++i) reports.push_back({i * 30.0, std::floor(i * 30.0 / 1.7)});
  const auto found = time_to_finish(reports, 10'000);
  ASSERT_TRUE(found);
  const double exact = (10'000 - reports.back().step) * 1.7;
  EXPECT_NEAR(found->seconds, exact, 0.02 * exact);
  EXPECT_LE(found->soonest, found->seconds);
  EXPECT_GE(found->latest, found->seconds);
}

TEST(TimeToFinish, begins_again_with_the_job) {
  std::vector<StepReport> reports;
  for (int i = 0; i < 20; ++i) reports.push_back({i * 10.0, i * 100.0});
  for (int i = 0; i < 20; ++i) reports.push_back({200 + i * 10.0, i * 10.0});
  const auto found = time_to_finish(reports, 1000);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->seconds, 810, 1);
}

TEST(TimeToFinish, is_not_known_without_steps) {
  EXPECT_FALSE(time_to_finish({}, 10));
  const std::vector<StepReport> still = {{0, 5}, {10, 5}, {20, 5}, {30, 5}};
  EXPECT_FALSE(time_to_finish(still, 10));
  const std::vector<StepReport> done = {{0, 5}, {10, 8}, {20, 10}};
  EXPECT_FALSE(time_to_finish(done, 10));
  EXPECT_FALSE(time_to_finish(done, std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace
}  // namespace assay::analysis
