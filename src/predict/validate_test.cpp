// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <random>

#include <assay/predict/intervals.h>
#include <assay/predict/validate.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double normal(std::mt19937_64& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(random() >> 11U) * 0x1p-53;
  return sum;
}

/// Times are a task's speed times the cost, with 3 % of noise; each model has two forms.
Table noisy_table(size_t tasks) {
  std::mt19937_64 random(1);
  Table table;
  const size_t items = 60;
  table.features = Grid(items, 1);
  table.costs = Grid(items, 1);
  table.seconds = Grid(tasks, items);
  for (size_t item = 0; item < items; ++item) {
    table.items.push_back({fmt::format("m{}", item / 2), ""});
    table.costs.at(item, 0) = std::exp(0.1 * static_cast<double>(item));
    table.features.at(item, 0) = 0.1 * static_cast<double>(item);
  }
  for (size_t task = 0; task < tasks; ++task) {
    table.tasks.push_back(fmt::format("t{}", task));
    table.devices.push_back(table.tasks.back());
    for (size_t item = 0; item < items; ++item)
      table.seconds.at(task, item) = table.costs.at(item, 0) * 0.001 *
                                     static_cast<double>(task + 1) *
                                     std::exp(0.03 * normal(random));
  }
  return table;
}

TEST(Validate, errors_are_the_noise_and_intervals_hold_their_share) {
  const Table table = noisy_table(6);
  const auto found = *validate(table, 10, 1);
  const Accuracy how = accuracy(judged(table, found));
  EXPECT_EQ(how.count, 360U);
  EXPECT_GT(how.mean_relative_error, 0.02);
  EXPECT_LT(how.mean_relative_error, 0.03);
  EXPECT_NEAR(coverage(intervals(table, found)), 0.8, 0.05);
}

TEST(Validate, a_model_is_told_by_others_alone) {
  Table table = noisy_table(3);
  const auto before = *validate(table, 10, 1);
  for (size_t task = 0; task < 3; ++task)
    for (const size_t item : {20U, 21U}) table.seconds.at(task, item) *= 1000;  // both of one model
  const auto after = *validate(table, 10, 1);
  for (const size_t item : {20U, 21U})
    EXPECT_DOUBLE_EQ(after.seconds.at(0, item), before.seconds.at(0, item));
  EXPECT_NE(after.seconds.at(0, 22), before.seconds.at(0, 22));
}

TEST(Validate, leaves_out_tasks_with_too_few_times) {
  Table table = noisy_table(2);
  for (size_t item = 3; item < 60; ++item) table.seconds.at(1, item) = kNone;
  const auto found = *validate(table, 10, 1);
  EXPECT_EQ(judged(table, found).size(), 60U);
  EXPECT_TRUE(std::isnan(found.seconds.at(1, 0)));
}

TEST(Validate, choices_are_items_that_all_have) {
  Table table = noisy_table(3);
  table.seconds.at(2, 5) = kNone;
  const auto found = *validate(table, 10, 1);
  const auto all = choices(table, found, std::array<size_t, 2>{0, 2});
  EXPECT_EQ(all.size(), 59U);
  EXPECT_EQ(judge_choices(all).right, 1) << "three times as fast";
}

TEST(HalfWidths, lean_on_others_when_errors_are_few) {
  Grid errors(2, 1000, kNone);
  for (size_t i = 0; i < 1000; ++i)
    errors.at(0, i) = (i % 2 == 0 ? 0.001 : -0.001) * static_cast<double>(i);
  for (size_t i = 0; i < 3; ++i) errors.at(1, i) = 0.1;
  const auto widths = half_widths(errors, 0.8);
  EXPECT_NEAR(widths[0], 0.8, 0.005);
  EXPECT_GT(widths[1], 0.13) << "its own are all 0.1, those of others 1.6 times their median";
  EXPECT_LT(widths[1], 0.16);
}

}  // namespace
}  // namespace assay::predict
