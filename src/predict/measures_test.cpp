// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include <assay/predict/measures.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

TEST(Accuracy, of_a_small_table) {
  const std::array<Judged, 4> all = {{{1.1, 1}, {2, 2}, {3, 4}, {8, 8}}};
  const Accuracy found = accuracy(all);
  EXPECT_EQ(found.count, 4U);
  EXPECT_NEAR(found.mean_error, 1.1 / 4, 1e-12);
  EXPECT_NEAR(found.root_mean_square_error, std::sqrt(1.01 / 4), 1e-12);
  EXPECT_NEAR(found.r_squared, 1 - 1.01 / 28.75, 1e-12);
  EXPECT_NEAR(found.mean_relative_error, (0.1 + 0.25) / 4, 1e-12);
  EXPECT_NEAR(found.median_relative_error, 0.05, 1e-12);
  EXPECT_DOUBLE_EQ(found.within_tenth, 0.5) << "1.1 is a hair more than a tenth off";
  EXPECT_DOUBLE_EQ(found.spearman, 1);
}

TEST(Accuracy, of_nothing_is_nothing) {
  EXPECT_EQ(accuracy({}).count, 0U);
  EXPECT_EQ(accuracy({}).mean_relative_error, 0);
}

TEST(Spearman, counts_order_only_and_shares_equal_ranks) {
  const std::array<double, 4> a = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(spearman(a, std::array<double, 4>{1, 10, 100, 1000}), 1);
  EXPECT_DOUBLE_EQ(spearman(a, std::array<double, 4>{4, 3, 2, 1}), -1);
  EXPECT_NEAR(spearman(a, std::array<double, 4>{1, 2, 2, 3}), 0.948683298, 1e-9);
  EXPECT_EQ(spearman(a, std::array<double, 4>{5, 5, 5, 5}), 0);
}

TEST(Choices, count_what_was_picked_and_what_it_cost) {
  const std::vector<std::vector<Judged>> choices = {
      {{1, 1}, {2, 2}},            // right
      {{1, 1.5}, {2, 1}},          // half as long again
      {{3, 3}},                    // no choice
      {{2, 4}, {2.5, 4}, {9, 9}},  // a tie is right
  };
  const Choices found = judge_choices(choices);
  EXPECT_EQ(found.count, 3U);
  EXPECT_NEAR(found.right, 2.0 / 3, 1e-12);
  EXPECT_NEAR(found.mean_regret, 0.5 / 3, 1e-12);
}

TEST(Coverage, is_the_share_within) {
  const std::array<Interval, 4> all = {{{1, 2, 1}, {1, 2, 2}, {1, 2, 3}, {1, 2, 0.5}}};
  EXPECT_DOUBLE_EQ(coverage(all), 0.5);
}

}  // namespace
}  // namespace assay::predict
