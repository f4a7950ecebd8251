// SPDX-License-Identifier: Apache-2.0
#include <assay/cluster/trial_choices.h>
#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

TEST(TrialChoices, AreReadByKindAndCount) {
  const auto choices = parse_gpu_choices("Tesla-T4:1,2,4; A100:1 ;");
  ASSERT_TRUE(choices) << choices.error().message;
  EXPECT_EQ(*choices,
            (std::vector<Choice>{{"Tesla-T4", 1}, {"Tesla-T4", 2}, {"Tesla-T4", 4}, {"A100", 1}}));
}

TEST(TrialChoices, MayHaveNoKindAndPartsOfOne) {
  const auto choices = parse_gpu_choices("0.5,1, 2");
  ASSERT_TRUE(choices) << choices.error().message;
  EXPECT_EQ(*choices, (std::vector<Choice>{{"", 0.5}, {"", 1}, {"", 2}}));
  EXPECT_EQ(quantity_of(0.5), "500m");
  EXPECT_EQ(quantity_of(2), "2");
  EXPECT_EQ(name_of({"A100", 2}), "A100 x 2");
  EXPECT_EQ(name_of({"A100", 2}, "nvidia.com/gpu"), "A100 x 2");
  EXPECT_EQ(name_of({"", 1}, "nvidia.com/gpu"), "1 GPU");
  EXPECT_EQ(name_of({"", 0.25}, "cpu"), "0.25 CPUs");
  EXPECT_EQ(name_of({"", 2}, "example.com/fpga"), "2 example.com/fpga");
  EXPECT_EQ(name_of({"", 2}), "2");
}

TEST(TrialChoices, WhatIsNoneIsTold) {
  for (const char* text : {"", ";", "A100", "A100:", "A100:0", "A100:-1", "A100:1,,2", "A100:x",
                           "A100:nan", "A100:1e9", "-A:1", "A/B:1", "A 1:1", "A:1;A:1", "A:1:2"})
    EXPECT_FALSE(parse_gpu_choices(text)) << text;
  std::string many = "A:1";
  for (int i = 2; i < 300; ++i) many += "," + std::to_string(i);
  EXPECT_FALSE(parse_gpu_choices(many));
}

TEST(TrialChoices, PricesAreOfAnHourAndOfAll) {
  const auto prices = parse_prices("Tesla-T4=0.35;A100=2.9");
  ASSERT_TRUE(prices) << prices.error().message;
  EXPECT_DOUBLE_EQ(price_of(*prices, {"Tesla-T4", 4}), 1.4);
  EXPECT_DOUBLE_EQ(price_of(*prices, {"other", 4}), 0);
  const auto any = parse_prices("0.04");
  ASSERT_TRUE(any) << any.error().message;
  EXPECT_DOUBLE_EQ(price_of(*any, {"", 2}), 0.08);
  for (const char* text : {"A100=", "A100=0", "A100=-1", "A100=inf", "A100=1;A100=2", "A/B=1"})
    EXPECT_FALSE(parse_prices(text)) << text;
}

}  // namespace
}  // namespace assay::cluster
