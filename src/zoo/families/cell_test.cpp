// SPDX-License-Identifier: Apache-2.0
#include "cell.h"

#include "count_work.h"
#include "family.h"

#include <gtest/gtest.h>

namespace assay::zoo {
namespace {

constexpr const char* kCell =
    "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|nor_conv_1x1~1|none~2|";

TEST(Cell, is_read_from_its_architecture_string) {
  const auto cell = parse_cell(kCell);
  ASSERT_TRUE(cell) << cell.error().message;
  EXPECT_EQ(cell_code(*cell), "301420");
  EXPECT_TRUE(leads_through(*cell));
}

TEST(Cell, one_whose_end_nothing_reaches_is_known) {
  EXPECT_FALSE(leads_through(
      *parse_cell("|none~0|+|none~0|nor_conv_3x3~1|+|none~0|skip_connect~1|skip_connect~2|")));
}

TEST(Cell, what_is_none_is_refused_with_the_form_it_should_have) {
  for (const char* text :
       {"", "|", "nor_conv_3x3", "|none~0|+|none~0|none~1|",
        "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|+|none~0|",
        "|none~0|+|none~0|none~1|+|none~0|none~1|", "|none~0|+|none~0|none~1|+none~0|none~1|none~2",
        "|none~1|+|none~0|none~1|+|none~0|none~1|none~2|",
        "|conv~0|+|none~0|none~1|+|none~0|none~1|none~2|",
        "|none|+|none~0|none~1|+|none~0|none~1|none~2|"}) {
    const auto cell = parse_cell(text);
    ASSERT_FALSE(cell) << text;
    EXPECT_NE(cell.error().message.find("|OP~0|+|OP~0|OP~1|"), std::string::npos) << text;
  }
}

Graph network(const std::string& cell) {
  Recipe recipe;
  recipe.family = "nasbench201";
  recipe.cell = cell;
  return build(plan_of(recipe).value()).value();
}

// NAS-Bench-201 gives these for its smallest and its largest network on CIFAR-10.
TEST(Cell, networks_have_the_parameters_that_the_benchmark_gives) {
  const auto smallest = network("|none~0|+|none~0|none~1|+|none~0|none~1|none~2|");
  EXPECT_EQ(smallest.parameters(), 73306);
  const auto largest = network(
      "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|nor_conv_3x3~0|nor_conv_3x3~1|nor_conv_"
      "3x3~2|");
  EXPECT_EQ(largest.parameters(), 1531546);
  EXPECT_NEAR(static_cast<double>(count_macs(largest)), 220.12e6, 2.2e6);
}

}  // namespace
}  // namespace assay::zoo
