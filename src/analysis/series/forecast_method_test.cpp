// SPDX-License-Identifier: Apache-2.0
#include "forecast_method.h"

#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

std::vector<double> noisy_days(size_t length) {
  std::mt19937_64 engine(5);
  std::normal_distribution<> normal;
  std::vector<double> values(length);
  for (size_t i = 0; i < length; ++i)
    values[i] = 20 + 5 * std::sin(2 * std::numbers::pi * static_cast<double>(i) / 24) +
                normal(engine) + 0.01 * static_cast<double>(i);
  return values;
}

std::vector<MethodPtr> all_methods(std::span<const double> series) {
  std::vector<MethodPtr> methods;
  methods.push_back(same_as_last(24));
  methods.push_back(mean_of_last(32));
  methods.push_back(median_of_last(8));
  methods.push_back(theta(1));
  methods.push_back(theta(24));
  methods.push_back(smoothing(1, 1));
  methods.push_back(smoothing(24, 1));
  methods.push_back(smoothing(24, 168));
  methods.push_back(linear({1, 2, 24}, "linear"));
  methods.push_back(on_logarithms(smoothing(24, 1), logarithms_of(series)));
  return methods;
}

TEST(ForecastMethod, follows_in_small_steps_as_in_one) {
  const auto values = noisy_days(500);
  const std::span<const double> series(values);
  const auto steps = all_methods(series), leaps = all_methods(series);
  for (size_t m = 0; m < steps.size(); ++m) {
    steps[m]->fit(series.first(401));
    for (size_t end = 402; end <= 500; ++end) steps[m]->follow(series.first(end));
    leaps[m]->fit(series.first(401));
    leaps[m]->follow(series);
    EXPECT_EQ(steps[m]->ahead(30), leaps[m]->ahead(30)) << steps[m]->name();
  }
}

TEST(ForecastMethod, stands_at_the_end_of_what_it_was_fitted_to) {
  const auto values = noisy_days(500);
  for (const auto& method : all_methods(values)) {
    method->fit(values);
    const auto told = method->ahead(30);
    method->follow(values);
    EXPECT_EQ(method->ahead(30), told) << method->name();
  }
}

TEST(LinearMethod, goes_on_with_waves_by_lags_side_by_side_and_apart) {
  const auto wave = [](size_t i) {
    const auto at = static_cast<double>(i);
    return 3 + std::sin(at / 3) + 2 * std::cos(at / 7) + std::sin(at / 2.2);
  };
  std::vector<double> values(400);
  for (size_t i = 0; i < values.size(); ++i) values[i] = wave(i);
  for (const auto& lags : {std::vector<size_t>{1, 2, 3, 4, 5, 6, 7, 20, 21, 22, 40},
                           std::vector<size_t>{2, 5, 9, 14, 20, 27, 35, 44}}) {
    const auto method = linear(lags, "linear");
    method->fit(values);
    const auto told = method->ahead(20);
    for (size_t i = 0; i < told.size(); ++i) EXPECT_NEAR(told[i], wave(400 + i), 0.05) << i;
  }
}

TEST(SmoothingMethod, carries_on_what_it_missed) {
  // A value is off by seven tenths of what the last one was, and noise.
  std::vector<double> values(300);
  std::mt19937_64 engine(7);
  std::normal_distribution<> normal;
  double off = 0;
  for (size_t i = 0; i < values.size(); ++i) values[i] = 10 + (off = 0.7 * off + normal(engine));
  values.back() = 20;
  const auto method = smoothing(1, 1);
  method->fit(values);
  const auto told = method->ahead(20);
  EXPECT_GT(told[0], 14);
  EXPECT_LT(told[19], 0.5 * (told[0] + 10));
}

}  // namespace
}  // namespace assay::analysis
