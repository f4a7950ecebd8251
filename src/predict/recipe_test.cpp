// SPDX-License-Identifier: Apache-2.0
#include "recipe.h"

#include "roofline.h"

#include <cmath>

#include <gtest/gtest.h>

namespace assay::predict {
namespace {

model::Workload some_work() {
  model::Workload work;
  work.macs_conv3x3 = 3e8;
  work.macs_depthwise = 1e8;
  work.bytes_conv = 1e6;
  work.bytes_depthwise = 4e6;
  work.operators = 9;
  return work;
}

TEST(Recipe, formulas_are_over_the_numbers_of_a_model) {
  const auto recipe =
      make_recipe({"log1p(operators)", "root_share(macs_depthwise, macs_conv3x3 + macs_depthwise)",
                   "log(macs_other)", "share(macs_other, macs_other)"},
                  {"macs_conv3x3 - macs_depthwise"});
  ASSERT_TRUE(recipe) << recipe.error().message;
  const auto work = some_work();
  const auto values = column_values({}, &work);
  EXPECT_DOUBLE_EQ(recipe->features[0].of(values), std::log(10));
  EXPECT_DOUBLE_EQ(recipe->features[1].of(values), 0.5);
  EXPECT_TRUE(std::isfinite(recipe->features[2].of(values))) << "of nothing";
  EXPECT_EQ(recipe->features[3].of(values), 0) << "of nothing";
  EXPECT_DOUBLE_EQ(recipe->costs[0].of(values), 2e8);
}

TEST(Recipe, what_is_not_known_of_a_model_is_no_number_of_it) {
  const auto recipe = make_recipe({"log(depth)"}, {});
  ASSERT_FALSE(recipe);
  EXPECT_EQ(recipe.error().message,
            "'depth' in 'log(depth)' is no number that is known of a model");
}

TEST(Recipe, formulas_have_words_for_people) {
  EXPECT_EQ(workload_recipe().features.front().words(), "macs");
  EXPECT_EQ(make_recipe({"share(macs_depthwise, macs_conv3x3)"}, {})->features[0].words(),
            "share of macs depthwise");
}

TEST(Recipe, counts_come_back_as_they_were) {
  const std::vector<double> values = {5, 1, 2, 640, 1e19, 602112, 4000};
  EXPECT_EQ(count_values(counts_of(values)), values);
  EXPECT_EQ(counts_of(std::vector<double>{1e300, -1, 0, 0, 0, 0, 0}).conv_layers,
            uint64_t{1} << 63U);
}

TEST(Roofline, each_kind_of_layer_takes_what_is_slower) {
  Device device;
  EXPECT_FALSE(roofline_seconds(device, {}, 0, some_work())) << "was not calibrated";
  device.figures = {{"flops_float32", 1e9},
                    {"flops_float32_one_core", 5e8},
                    {"bandwidth", 1e7},
                    {"launch_seconds.opencv", 0.001}};
  const Task task{"d", "opencv", "float32"};
  // Convolutions: 0.6 s of arithmetic against 0.1 s of memory; depthwise: 0.2 against 0.4.
  EXPECT_NEAR(*roofline_seconds(device, task, 0, some_work()), 0.6 + 0.4 + 0.010, 1e-12);
  EXPECT_NEAR(*roofline_seconds(device, task, 1, some_work()), 1.2 + 0.4 + 0.010, 1e-12);
}

}  // namespace
}  // namespace assay::predict
