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
  for (int i = 0; i < 1000; ++i) samples.emplace_back(std::round(i * 0.3333 * 100) / 100, i);
  const auto series = evenly(samples);
  ASSERT_TRUE(series);
  EXPECT_EQ(series->values.size(), 1000);
  EXPECT_EQ(series->values[777], 777);
}

TEST(Evenly, a_clock_that_jitters_means_a_round_step) {
  std::vector<std::pair<double, double>> samples;
  for (int i = 0; i < 500; ++i) samples.emplace_back(1e6 + 3600 * i + 180 * std::sin(i * i), i);
  samples.back().first -= 100;
  EXPECT_EQ(evenly(samples)->step_seconds, 3600);
  for (auto& [time, value] : samples) time *= 1.002;
  EXPECT_NEAR(evenly(samples)->step_seconds, 3607, 1) << "it is a whole step away at the end";
}

TEST(Evenly, what_does_not_jitter_is_as_it_is) {
  std::vector<std::pair<double, double>> samples;
  for (int i = 0; i < 50; ++i) samples.emplace_back(1e6 + 30.1 * i, i);
  EXPECT_NEAR(evenly(samples)->step_seconds, 30.1, 1e-6);
}

TEST(Evenly, years_and_months_end_when_they_do) {
  using std::chrono::sys_days;
  const auto last_of = [](int count, int months) {
    std::vector<std::pair<double, double>> samples;
    auto date = std::chrono::year(1920) / 1 / 1;
    for (int i = 0; i < count; ++i, date += std::chrono::months(months))
      samples.emplace_back(86400.0 * static_cast<double>(sys_days(date).time_since_epoch().count()),
                           i);
    const auto series = evenly(samples);
    EXPECT_EQ(series->values.size(), static_cast<size_t>(count));
    return series->time(series->values.size() - 1) - samples.back().first;
  };
  EXPECT_NEAR(last_of(100, 12), 0, 3600);
  EXPECT_NEAR(last_of(240, 1), 0, 3600);
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

}  // namespace
}  // namespace assay::analysis
