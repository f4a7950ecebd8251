// SPDX-License-Identifier: Apache-2.0
#include "missing_marks.h"

#include <cmath>

#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

using Samples = std::vector<std::pair<double, double>>;

/// Values from one to the other, and these at the end.
Samples samples(double from, double to, const std::vector<double>& more, size_t count = 100) {
  Samples all;
  for (size_t i = 0; i < count; ++i)
    all.emplace_back(i, from + (to - from) * static_cast<double>(i % 10) / 9);
  for (const double value : more) all.emplace_back(all.size(), value);
  return all;
}

TEST(MissingMarks, those_below_zero_where_nothing_else_is) {
  for (const double mark : {-99.9, -999.0, -999.9, -9999.0, -9999.9, -99999.0}) {
    auto few = samples(0, 800, {mark, 5}, 20);
    const auto found = without_marks(few);
    EXPECT_EQ(found.count, 1) << mark;
    EXPECT_TRUE(std::isnan(few[20].second)) << mark;
    EXPECT_EQ(few[21].second, 5);
  }
  for (const double value : {-99.0, 0.0, -777.0, -1.0}) {
    auto kept = samples(10, 800, {value});
    EXPECT_EQ(without_marks(kept).count, 0) << value;
  }
}

TEST(MissingMarks, all_of_them_where_nothing_else_comes_near) {
  for (const double mark : {-999.9, 999.9, 9999.0, 9999.9, 99999.0}) {
    auto far = samples(-12, 30, {mark, mark});
    const auto found = without_marks(far);
    EXPECT_EQ(found.count, 2) << mark;
    EXPECT_EQ(found.marks.size(), 1);
  }
  auto cold = samples(-60, 30, {-99.9});
  EXPECT_EQ(without_marks(cold).count, 0);
  auto pressure = samples(985, 1030, {999.9, 999.9});
  EXPECT_EQ(without_marks(pressure).count, 0);
  auto large = samples(100, 4000, {9999, 99999});
  EXPECT_EQ(without_marks(large).marks, (std::vector<std::string>{"99999"}));
}

TEST(MissingMarks, few_values_or_one_that_is_near_keep_what_may_be_a_number) {
  auto few = samples(1, 100, {9999}, 20);
  EXPECT_EQ(without_marks(few).count, 0);
  auto spike = samples(1, 100, {7000, 9999});
  EXPECT_EQ(without_marks(spike).count, 0);
  Samples only = {{0, -999}, {1, -999}};
  EXPECT_EQ(without_marks(only).count, 0);
}

TEST(MissingMarks, an_odd_value_does_not_hide_them) {
  for (const double odd : {-777.0, -99.0, -12345.0, 1e6}) {
    auto hidden = samples(80, 120, {-999, -9999, odd, -999});
    const auto found = without_marks(hidden);
    EXPECT_EQ(found.count, 3) << odd;
    EXPECT_EQ(found.marks, (std::vector<std::string>{"-999", "-9999"}));
    EXPECT_EQ(hidden[102].second, odd);
  }
  auto many = samples(80, 120, {-999, -777, -790, -600, -1200});
  EXPECT_EQ(without_marks(many).count, 0) << "others are as low";
}

}  // namespace
}  // namespace assay::analysis
