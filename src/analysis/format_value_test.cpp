// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include <assay/analysis/run_analysis.h>
#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

TEST(FormatValue, writes_a_value_as_people_do_for_its_unit) {
  EXPECT_EQ(format_value(0.2, "seconds"), "200 ms");
  EXPECT_EQ(format_value(0, "seconds"), "0 s");
  EXPECT_EQ(format_value(612e6, "bytes"), "612 MB");
  EXPECT_EQ(format_value(12e6, "bytes per second"), "12 MB/s");
  EXPECT_EQ(format_value(0.12, "ratio"), "12 %");
  EXPECT_EQ(format_value(61.2, "celsius"), "61.2 °C");
  EXPECT_EQ(format_value(1.8e9, "hertz"), "1.8 GHz");
  EXPECT_EQ(format_value(50, "hertz"), "50 Hz");
  EXPECT_EQ(format_value(12.4, "watts"), "12.4 W");
  EXPECT_EQ(format_value(3, "joules"), "3 J");
  EXPECT_EQ(format_value(1.8, "cores"), "1.8");
  EXPECT_EQ(format_value(12.4, ""), "12.4");
}

TEST(FormatValue, survives_what_no_unit_can_hold) {
  EXPECT_EQ(format_value(std::numeric_limits<double>::infinity(), "seconds"), "unknown");
  EXPECT_EQ(format_value(NAN, "bytes"), "unknown");
  EXPECT_EQ(format_value(1e300, "seconds"), "1e+300 s");
}

}  // namespace
}  // namespace assay::analysis
