// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cmath>
#include <limits>

#include <assay/analysis/series_analysis.h>
#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

TEST(Evenly, puts_samples_into_steps) {
  const auto series = evenly({{100, 1}, {110.2, 2}, {119.9, 3}, {141, 5}, {139, 7}, {150, 9}});
  ASSERT_TRUE(series);
  EXPECT_NEAR(series->step_seconds, 10, 0.3);
  EXPECT_EQ(series->start, 100);
  ASSERT_EQ(series->values.size(), 6);
  EXPECT_EQ(series->values[2], 3);
  EXPECT_TRUE(std::isnan(series->values[3]));
  EXPECT_EQ(series->values[4], 6) << "two in one step are their mean";
  EXPECT_EQ(series->values[5], 9);
}

TEST(Evenly, a_step_that_is_no_round_number_does_not_drift_away) {
  std::vector<std::pair<double, double>> samples;
  samples.reserve(1000);
  for (int i = 0; i < 1000; ++i) samples.emplace_back(std::round(i * 0.3333 * 100) / 100, i);
  const auto series = evenly(samples);
  ASSERT_TRUE(series);
  EXPECT_EQ(series->values.size(), 1000);
  EXPECT_EQ(series->values[777], 777);
}

TEST(Evenly, a_clock_that_jitters_means_a_round_step) {
  std::vector<std::pair<double, double>> samples;
  samples.reserve(1000);
  for (int i = 0; i < 500; ++i) samples.emplace_back(1e6 + 3600 * i + 180 * std::sin(i * i), i);
  samples.back().first -= 100;
  EXPECT_EQ(evenly(samples)->step_seconds, 3600);
  for (auto& [time, value] : samples) time *= 1.002;
  EXPECT_NEAR(evenly(samples)->step_seconds, 3607, 1) << "it is a whole step away at the end";
}

TEST(Evenly, one_late_sample_makes_no_other_clock) {
  std::vector<std::pair<double, double>> samples;
  samples.reserve(1000);
  for (int i = 0; i < 1000; ++i) samples.emplace_back(1e6 + 60 * i, i);
  samples.front().first += 10;
  EXPECT_EQ(evenly(samples)->step_seconds, 60);
}

TEST(Evenly, what_does_not_jitter_is_as_it_is) {
  std::vector<std::pair<double, double>> samples;
  samples.reserve(1000);
  for (int i = 0; i < 50; ++i) samples.emplace_back(1e6 + 30.1 * i, i);
  EXPECT_NEAR(evenly(samples)->step_seconds, 30.1, 1e-6);
}

using std::chrono::sys_days;
using std::chrono::year;

double seconds_of(const std::chrono::year_month_day& date) {
  return 86400.0 * static_cast<double>(sys_days(date).time_since_epoch().count());
}

TEST(Evenly, months_and_years_are_those_of_the_calendar) {
  for (const int months : {1, 3, 12}) {
    std::vector<std::pair<double, double>> samples;
    auto date = year(1920) / 10 / 15;
    for (int i = 0; i < 300; ++i, date += std::chrono::months(months))
      if (i % 7 != 3) samples.emplace_back(seconds_of(date) + 3600, i);
    const auto series = evenly(samples);
    ASSERT_TRUE(series);
    EXPECT_EQ(series->months, months);
    ASSERT_EQ(series->values.size(), 300);
    EXPECT_EQ(series->time(299), samples.back().first);
    EXPECT_EQ(series->values[298], 298);
    EXPECT_TRUE(std::isnan(series->values[290])) << "41 * 7 + 3";
    EXPECT_EQ(series->time(300), seconds_of(date) + 3600);
    double before = series->time(0);
    for (size_t i = 1000; i < 400'000; i *= 2) {
      EXPECT_GT(series->time(i), before) << "also beyond the years that the calendar knows";
      before = series->time(i);
    }
  }
}

TEST(Evenly, months_may_be_told_by_their_last_days) {
  std::vector<std::pair<double, double>> samples;
  auto month = year(2003) / 11;
  for (int i = 0; i < 40; ++i, month += std::chrono::months(1))
    samples.emplace_back(seconds_of(month / std::chrono::last), i);
  const auto series = evenly(samples);
  EXPECT_EQ(series->months, 1);
  EXPECT_EQ(series->time(3), seconds_of(year(2004) / 2 / 29));
  EXPECT_EQ(series->time(15), seconds_of(year(2005) / 2 / 28));
  EXPECT_EQ(series->values, (evenly(samples, 40)->values));
  for (auto& [time, value] : samples) time += value;
  EXPECT_EQ(evenly(samples)->months, 0) << "not at the same time of the day";
}

TEST(Evenly, refuses_what_has_no_step_or_too_many) {
  EXPECT_FALSE(evenly({}));
  EXPECT_FALSE(evenly({{5, 1}}));
  EXPECT_FALSE(evenly({{5, 1}, {5, 2}}));
  const auto far = evenly({{0, 1}, {1, 1}, {2, 1}, {1e12, 1}});
  ASSERT_FALSE(far);
  EXPECT_NE(far.error().message.find("1 seconds apart"), std::string::npos) << far.error().message;
  EXPECT_TRUE(evenly({{0, 1}, {std::nan(""), 3}, {1, 2}}));
}

TEST(EvenSeries, a_time_that_is_far_from_all_others_is_named) {
  std::vector<std::pair<double, double>> samples;
  for (int hour = 0; hour < 100; ++hour) samples.emplace_back(1767225600 + 3600.0 * hour, hour);
  auto late = samples, early = samples, gap = samples;
  late.emplace_back(4923000000, 7);  // in 2126
  early.emplace_back(0, 7);
  for (int hour = 0; hour < 100; ++hour) gap.emplace_back(1800000000 + 3600.0 * hour, hour);
  for (const auto& [wrong, named] : {std::pair(late, "the time 2126-01-02T04:00:00Z"),
                                     std::pair(early, "the time 1970-01-01T00:00:00Z")}) {
    EXPECT_TRUE(evenly(wrong)) << "a program's may be right";
    const auto series = evenly(wrong, 10'000'000, true, true);
    ASSERT_FALSE(series);
    EXPECT_EQ(series.error().message.find(named), 0) << series.error().message;
    EXPECT_NE(series.error().message.find("from 2026-01-01T00:00:00Z"), std::string::npos)
        << series.error().message;
  }
  EXPECT_TRUE(evenly(gap, 10'000'000, true, true)) << "two records of the same length";
  EXPECT_EQ(evenly(early, 10'000'000, false, true).error().message.find("the time 0 is far"), 0);
}

}  // namespace
}  // namespace assay::analysis
