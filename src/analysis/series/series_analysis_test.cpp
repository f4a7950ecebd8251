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

SeriesSummary between(double min, double max) {
  return {.known = 100, .min = min, .max = max};
}

TEST(FullOf, is_told_of_shares_only) {
  for (const char* name :
       {"util", "gpu_util", "utilization.gpu [%]", "cpuUtil", "cpu_usage", "gpu0", "GPU 1", "cpu",
        "duty cycle", "avg(DCGM_FI_DEV_GPU_UTIL)", "value", ""})
    EXPECT_EQ(full_of(name, between(2, 90)), 100) << name;
  EXPECT_EQ(full_of("ratio", between(0, 0.8)), 1);
  EXPECT_EQ(full_of("percent", between(0, 0.8)), 100);
  for (const char* name : {"level", "Pegel (m)", "duration", "temperature", "memory_used_bytes",
                           "rate(container_cpu_usage_seconds_total[5m])", "gpu_temp", "visitors",
                           "DCGM_FI_DEV_POWER_USAGE", "load", "percentile_ms"})
    EXPECT_FALSE(full_of(name, between(2, 90))) << name;
  EXPECT_FALSE(full_of("util", between(-1, 90)));
  EXPECT_FALSE(full_of("value", between(0, 5e9))) << "bytes";
  EXPECT_FALSE(full_of("", between(1.9, 3.2))) << "a river's level";
  EXPECT_EQ(full_of("", between(0, 3)), 100) << "an idle GPU";
}

TEST(AnalyzeSeries, a_class_is_told_of_shares_and_where_full_is_said) {
  const EvenSeries river{0, 60, std::vector<double>(100, 2.5), "level"};
  EXPECT_FALSE(analyze_series(river, {})->use);
  EXPECT_EQ(analyze_series(river, {.full = 2.6})->use, UseClass::saturated);
  const EvenSeries gpu{0, 60, std::vector<double>(100, 2.5), "gpu_util"};
  EXPECT_EQ(analyze_series(gpu, {})->use, UseClass::idle);
}

TEST(AnalyzeSeries, a_season_that_cannot_be_used_is_refused) {
  const EvenSeries series{0, 0, repeated({1, 5, 9}, 8)};
  EXPECT_EQ(analyze_series(series, {.season = 1}).error().message,
            "a season has two samples at least");
  EXPECT_EQ(analyze_series(series, {.season = 13}).error().message,
            "a season of 13 samples has to be there twice at least; the series has 24");
  EXPECT_EQ(analyze_series(series, {.season = 12})->season, 12);
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

TEST(SeriesAnalysis, a_few_values_at_the_end_that_are_far_from_all_others_are_told) {
  EvenSeries series;
  for (int i = 0; i < 400; ++i) series.values.push_back(100 + std::sin(1.7 * i));
  EXPECT_EQ(analyze_series(series, {})->odd_end, 0);
  for (const size_t few : {1, 4}) {
    auto failed = series;
    failed.values.insert(failed.values.end(), few, 0.0);
    EXPECT_EQ(analyze_series(failed, {})->odd_end, few);
    failed.values.push_back(100);
    EXPECT_EQ(analyze_series(failed, {})->odd_end, 0) << "it goes on";
  }
}

}  // namespace
}  // namespace assay::analysis
