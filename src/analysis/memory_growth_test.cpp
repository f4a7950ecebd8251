// SPDX-License-Identifier: Apache-2.0
#include "memory_growth.h"

#include "test_run.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

/// Ten samples a second over a minute; `shape` goes from 0 to 1.
std::optional<Growth> growth_of(const std::function<double(double)>& shape) {
  Points points;
  for (int i = 0; i < 600; ++i) points.emplace_back(i * 0.1, shape(i / 600.0));
  const auto info = describe(MetricId::memory_bytes, Scope::app, "test");
  return steady_growth(gauge_intervals(make_series(info, points), at(60)), at(0), at(60));
}

double noise(double x) {
  return 3e6 * std::sin(x * 4000);
}

TEST(SteadyGrowth, finds_a_leak_under_noise) {
  const auto growth = growth_of([](double x) { return 200e6 + 120e6 * x + noise(x); });
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->per_second, 2e6, 0.1e6);
  EXPECT_NEAR(growth->first, 203e6, 5e6);
  EXPECT_NEAR(growth->last, 317e6, 5e6);
  EXPECT_EQ(growth->over, std::chrono::seconds(60));
}

TEST(SteadyGrowth, finds_a_leak_that_grows_by_steps) {
  EXPECT_TRUE(growth_of([](double x) { return 200e6 + 10e6 * std::floor(x * 20); }));
}

TEST(SteadyGrowth, is_silent_about_a_level_that_stays_swings_or_falls) {
  EXPECT_FALSE(growth_of([](double) { return 200e6; }));
  EXPECT_FALSE(growth_of([](double x) { return 200e6 + 10 * noise(x); }));
  EXPECT_FALSE(growth_of([](double x) { return 200e6 + 100e6 * std::fmod(x * 7, 1.0); }));
  EXPECT_FALSE(growth_of([](double x) { return 200e6 - 100e6 * x; }));
}

TEST(SteadyGrowth, is_silent_about_a_level_that_settles_or_jumps_once) {
  EXPECT_FALSE(growth_of([](double x) { return 100e6 + 200e6 * (1 - std::exp(-6 * x)); }));
  EXPECT_FALSE(growth_of([](double x) { return x < 0.5 ? 100e6 : 300e6; }));
}

TEST(SteadyGrowth, is_silent_about_a_few_megabytes) {
  EXPECT_FALSE(growth_of([](double x) { return 10e6 + 3e6 * x; }));
  EXPECT_FALSE(growth_of([](double x) { return 2000e6 + 50e6 * x; }));
}

TEST(SteadyGrowth, needs_twenty_seconds_without_a_hole) {
  const auto info = describe(MetricId::memory_bytes, Scope::app, "test");
  Points points;
  for (int i = 0; i < 600; ++i) points.emplace_back(i * 0.1, 1e6 * i);
  const auto levels = gauge_intervals(make_series(info, points), at(60));
  EXPECT_TRUE(steady_growth(levels, at(0), at(20)));
  EXPECT_FALSE(steady_growth(levels, at(0), at(19)));
  EXPECT_FALSE(steady_growth({levels.begin() + 300, levels.end()}, at(0), at(60)));
}

}  // namespace
}  // namespace assay::analysis
