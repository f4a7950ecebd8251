// SPDX-License-Identifier: Apache-2.0
#include "text_plot.h"

#include <cmath>

#include <gtest/gtest.h>

namespace assay::report {
namespace {

TEST(DotPlot, draws_a_rising_line) {
  const auto lines = dot_plot({{0, 0}, {1, 1}, {2, 2}, {3, 3}}, 0, 3, 1);
  EXPECT_EQ(lines, std::vector<std::string>{"⡠⠊"});
}

TEST(DotPlot, leaves_gaps_and_constants_alone) {
  const double none = std::nan("");
  EXPECT_EQ(dot_plot({{none, none}, {none, none}}, 0, 1, 1), std::vector<std::string>{" "});
  EXPECT_EQ(dot_plot({{5, 5}, {5, 5}}, 5, 5, 1), std::vector<std::string>{"⣀"});
}

TEST(DotColumns, keep_the_smallest_and_the_largest) {
  const auto columns = dot_columns({1, 9, 3, 4, std::nan(""), std::nan("")}, 3);
  EXPECT_EQ(columns[0].low, 1);
  EXPECT_EQ(columns[0].high, 9);
  EXPECT_EQ(columns[1].high, 4);
  EXPECT_TRUE(std::isnan(columns[2].low));
}

}  // namespace
}  // namespace assay::report
