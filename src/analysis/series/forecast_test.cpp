// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include <assay/analysis/forecast.h>
#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

constexpr size_t kDay = 24;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

class Daily : public testing::Test {
 protected:
  double truth(size_t hour) const {
    const auto at = static_cast<double>(hour);
    return 50 + 20 * std::sin(2 * std::numbers::pi * at / 24) +
           (weekly_ && hour / 24 % 7 < 5 ? 10.0 : 0.0);
  }
  std::vector<double> measured(size_t length, double noise) {
    std::vector<double> values(length);
    for (size_t i = 0; i < length; ++i) values[i] = truth(i) + noise * normal_(engine_);
    return values;
  }
  bool weekly_ = false;
  std::mt19937_64 engine_{3};
  std::normal_distribution<> normal_;
};

double mean_error(const Forecast& told, const std::vector<double>& truth) {
  double sum = 0;
  for (size_t i = 0; i < truth.size(); ++i) sum += std::abs(told.points[i].value - truth[i]);
  return sum / static_cast<double>(truth.size());
}

TEST_F(Daily, tells_days_and_weeks_that_come_again) {
  weekly_ = true;
  const auto told = forecast(measured(kDay * 35, 1), {48, {24, 168}});
  ASSERT_EQ(told.points.size(), 48);
  std::vector<double> next(48);
  for (size_t i = 0; i < 48; ++i) next[i] = truth(kDay * 35 + i);
  EXPECT_LT(mean_error(told, next), 1);
}

TEST_F(Daily, intervals_hold_as_often_as_they_say) {
  double in80 = 0, in95 = 0;
  constexpr int kSeries = 120;
  for (int series = 0; series < kSeries; ++series) {
    const auto values = measured(kDay * 24 + 24, 3);
    const auto told = forecast(std::span(values).first(kDay * 24), {24, {24}});
    for (size_t i = 0; i < 24; ++i) {
      const auto& point = told.points[i];
      const double value = values[kDay * 24 + i];
      EXPECT_LE(point.low95, point.low80);
      EXPECT_LE(point.low80, point.value);
      in80 += value >= point.low80 && value <= point.high80;
      in95 += value >= point.low95 && value <= point.high95;
    }
  }
  EXPECT_NEAR(in80 / (24 * kSeries), 0.80, 0.06);
  EXPECT_NEAR(in95 / (24 * kSeries), 0.95, 0.03);
}

/// A series of a kind that is told one to four values ahead, and what came then.
class FewAhead : public testing::TestWithParam<size_t> {
 protected:
  std::vector<double> made(size_t length, int kind) {
    std::vector<double> values(length);
    double level = 0;
    for (size_t i = 0; i < length; ++i) {
      const double noise = normal_(engine_);
      const double day = 20 * std::sin(2 * std::numbers::pi * static_cast<double>(i) / 24);
      level = kind == 2 ? level + noise : 0.8 * level + noise;
      values[i] = 200 + (kind == 0 ? 9 * noise : kind == 1 ? day + 3 * noise : 3 * level);
    }
    return values;
  }
  std::mt19937_64 engine_{11};
  std::normal_distribution<> normal_;
};

TEST_P(FewAhead, intervals_hold_as_often_as_they_say) {
  const size_t horizon = GetParam();
  for (const size_t length : {100, 500}) {
    double in80 = 0, in95 = 0, all = 0;
    for (int series = 0; series < 240; ++series) {
      const auto values = made(length + horizon, series % 4);
      const std::vector<size_t> seasons(series % 4 == 1 ? 1 : 0, 24);
      const auto told = forecast(std::span(values).first(length), {horizon, seasons});
      for (size_t i = 0; i < horizon; ++i, ++all) {
        const auto& point = told.points[i];
        in80 += values[length + i] >= point.low80 && values[length + i] <= point.high80;
        in95 += values[length + i] >= point.low95 && values[length + i] <= point.high95;
      }
    }
    EXPECT_NEAR(in80 / all, 0.80, 0.05) << length;
    EXPECT_NEAR(in95 / all, 0.95, 0.03) << length;
  }
}

INSTANTIATE_TEST_SUITE_P(Horizons, FewAhead, testing::Values(1, 2, 4));

TEST_F(Daily, gaps_and_missing_values_do_little_harm) {
  auto values = measured(kDay * 30, 1);
  for (size_t i = 0; i < values.size(); i += 7) values[i] = kMissing;
  std::fill(values.begin() + 300, values.begin() + 330, kMissing);
  std::fill(values.end() - 3, values.end(), kMissing);
  const auto told = forecast(values, {24, {24}});
  std::vector<double> next(24);
  for (size_t i = 0; i < 24; ++i) next[i] = truth(kDay * 30 + i);
  EXPECT_LT(mean_error(told, next), 4);
}

TEST_F(Daily, methods_are_named_and_weighed) {
  const auto told = forecast(measured(kDay * 20, 1), {24, {24}});
  ASSERT_FALSE(told.methods.empty());
  double sum = 0;
  for (const auto& method : told.methods) {
    EXPECT_FALSE(method.name.empty());
    EXPECT_LE(method.weight, told.methods.front().weight);
    sum += method.weight;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(ShortSeries, something_is_told_from_eight_values_on) {
  for (size_t length = 8; length < 40; ++length) {
    std::vector<double> values(length);
    for (size_t i = 0; i < length; ++i) values[i] = static_cast<double>(i % 5);
    const auto told = forecast(values, {10, {5}});
    ASSERT_EQ(told.points.size(), 10) << length;
    for (const auto& point : told.points) {
      EXPECT_TRUE(std::isfinite(point.value)) << length;
      EXPECT_TRUE(std::isfinite(point.high95)) << length;
      EXPECT_GE(point.low95, 0) << "use is never negative";
      EXPECT_GT(point.high80, point.low80) << "certain after " << length;
    }
  }
}

TEST(ShortSeries, nothing_is_told_of_nothing) {
  EXPECT_TRUE(forecast({}, {5, {}}).points.empty());
  for (size_t length = 1; length < 8; ++length)
    EXPECT_TRUE(forecast(std::vector<double>(length, 3), {5, {}}).points.empty()) << length;
  EXPECT_TRUE(forecast(std::vector<double>(9, kMissing), {5, {}}).points.empty());
  EXPECT_TRUE(forecast(std::vector<double>(9, 1), {0, {}}).points.empty());
}

TEST(ShortSeries, what_was_filled_in_is_no_evidence) {
  std::vector<double> values(200, kMissing);
  values[0] = values[150] = values[198] = 5;
  EXPECT_TRUE(forecast(values, {10, {}}).points.empty());
  // Where only the very end is known, some horizons have no error to count on.
  values.assign(200, kMissing);
  values[0] = values[1] = 4;
  std::fill(values.end() - 4, values.end(), 5);
  for (size_t horizon = 1; horizon < 90; ++horizon) forecast(values, {horizon, {}});
}

TEST(ConstantSeries, of_a_few_values_is_no_promise) {
  EXPECT_TRUE(forecast(std::vector<double>(30, 7), {5, {}}).points.empty());
}

TEST(ConstantSeries, stays_what_it_was) {
  const auto told = forecast(std::vector<double>(300, 7), {12, {24}});
  for (const auto& point : told.points) {
    EXPECT_NEAR(point.value, 7, 1e-6);
    EXPECT_NEAR(point.high95, 7, 1e-3);
  }
}

TEST(Rain, that_is_mostly_none_may_be_none) {
  for (const double share : {0.25, 0.15, 0.08, 0.03}) {
    double in80 = 0, in95 = 0;
    constexpr int kSeries = 20;
    std::mt19937_64 engine(7);
    std::uniform_real_distribution<> uniform;
    std::exponential_distribution<> much;
    for (int series = 0; series < kSeries; ++series) {
      std::vector<double> rain(1440 + 48);
      for (double& value : rain)
        value = uniform(engine) < share ? std::round(10 * much(engine)) / 10 : 0;
      const auto told = forecast(std::span(rain).first(1440), {48, {}});
      for (size_t i = 0; i < 48; ++i) {
        const auto& point = told.points[i];
        EXPECT_EQ(point.low80, 0);
        in80 += rain[1440 + i] >= point.low80 && rain[1440 + i] <= point.high80;
        in95 += rain[1440 + i] >= point.low95 && rain[1440 + i] <= point.high95;
      }
    }
    EXPECT_GT(in80 / (48 * kSeries), 0.76) << share;
    EXPECT_GT(in95 / (48 * kSeries), 0.91) << share;
  }
}

TEST(ConstantSeries, has_no_interval_by_rounding) {
  for (const auto& point : forecast(std::vector<double>(240, 7), {48, {}}).points)
    EXPECT_EQ(point.low80, point.high80);
}

TEST(Rain, of_each_afternoon_may_be_none_then_only) {
  std::vector<double> rain(24 * 60);
  for (size_t i = 0; i < rain.size(); ++i)
    rain[i] = i % 24 == 15 && i / 24 % 5 == 0 ? 10 : i % 24 == 3 ? 5 : 0;
  const auto told = forecast(rain, {24, {24}});
  ASSERT_EQ(told.points.size(), 24);
  EXPECT_EQ(told.points[15].low80, 0);
  EXPECT_GT(told.points[3].low80, 4);
  EXPECT_LT(told.points[8].high95, 1);
}

TEST(RisingSeries, is_not_told_to_rise_for_ever) {
  std::vector<double> values(200);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::exp(0.05 * static_cast<double>(i));
  const auto told = forecast(values, {1000, {}});
  for (const auto& point : told.points) EXPECT_LE(point.value, 1.5 * values.back() + 1);
}

TEST(SeasonsOf, a_day_means_a_week_too_where_there_are_three) {
  const std::vector<Cycle> day = {{24.02, 0.9, 0.8}};
  EXPECT_EQ(seasons_of(day, 700, 3600), (std::vector<size_t>{24, 168}));
  EXPECT_EQ(seasons_of(day, 400, 3600), (std::vector<size_t>{24}));
  EXPECT_EQ(seasons_of(day, 700, 0), (std::vector<size_t>{24}));
  EXPECT_EQ(seasons_of({{168, 0.9, 0.8}, {24, 0.9, 0.1}}, 700, 60), (std::vector<size_t>{24, 168}));
  EXPECT_TRUE(seasons_of({}, 700, 3600).empty());
}

}  // namespace
}  // namespace assay::analysis
