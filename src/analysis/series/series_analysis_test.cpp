// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include <assay/analysis/series_analysis.h>
#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

std::vector<double> repeated(std::vector<double> turn, int times) {
  std::vector<double> values;
  for (int i = 0; i < times; ++i) values.insert(values.end(), turn.begin(), turn.end());
  return values;
}

TEST(UseClassOf, tells_four_ways_to_use_a_gpu) {
  EXPECT_EQ(use_class(std::vector<double>(100, 0.01), 1), UseClass::idle);
  EXPECT_EQ(use_class(std::vector<double>(100, 0.97), 1), UseClass::saturated);
  EXPECT_EQ(use_class(std::vector<double>(100, 0.5), 1), UseClass::steady);
  EXPECT_EQ(use_class(repeated({90, 90, 90, 0, 5, 2}, 20), 100), UseClass::bursty);
  EXPECT_EQ(use_class({}, 1), UseClass::idle);
}

TEST(AnalyzeSeries, tells_all_at_once) {
  EvenSeries series{0, 60, {}};
  for (int i = 0; i < 600; ++i)
    series.values.push_back(50 + 40 * std::sin(2 * std::numbers::pi * i / 30.0));
  const auto told = analyze_series(series, {});
  ASSERT_TRUE(told);
  EXPECT_EQ(told->summary.known, 600);
  EXPECT_NEAR(told->summary.mean, 50, 0.5);
  EXPECT_NEAR(told->summary.max, 90, 0.5);
  ASSERT_FALSE(told->cycles.empty());
  EXPECT_NEAR(told->cycles[0].period, 30, 0.1);
  EXPECT_TRUE(told->changes.empty());
  EXPECT_EQ(told->forecast.points.size(), 60) << "an hour";
  EXPECT_NEAR(told->forecast.points[7].value, 90, 3);
}

TEST(AnalyzeSeries, the_season_can_be_said) {
  const EvenSeries series{0, 0, repeated({1, 5, 9}, 8)};
  const auto told = analyze_series(series, {6, 3, {}});
  ASSERT_TRUE(told);
  ASSERT_EQ(told->forecast.points.size(), 6);
  EXPECT_NEAR(told->forecast.points[2].value, 9, 0.5);
}

TEST(AnalyzeSeries, a_series_without_numbers_is_refused) {
  EXPECT_FALSE(analyze_series({0, 1, {std::nan(""), std::nan("")}}, {}));
}

TEST(AnalyzeSeries, of_values_beyond_any_measure_nothing_is_told) {
  EXPECT_FALSE(analyze_series({0, 1, {1, -1e308, 1e308}}, {}));
  EXPECT_TRUE(analyze_series({0, 1, {1, -1e100, 1e100}}, {}));
}

}  // namespace
}  // namespace assay::analysis
