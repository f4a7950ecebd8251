// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include <assay/analysis/series_analysis.h>
#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

TEST(ParseSeries, a_head_that_is_there_again_is_left_out_and_told) {
  const auto series = parse_series(
      "Date,Time,q\n2026-03-01,00:00,1\nDate,Time,q\n2026-03-01,01:00,2\nDate,Time,q\n"
      "2026-03-01,02:00,3\n",
      "x");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(series->values, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(series->rows, 3);
  EXPECT_TRUE(series->columns.ends_with(", without 2 lines that repeat its head"))
      << series->columns;
  const auto units = parse_series("of a board\nt,v\ns,m\n0,1\n1,2\nt,v\ns,m\n2,3\n", "x");
  ASSERT_TRUE(units) << units.error().message;
  EXPECT_EQ(units->columns,
            "column 2 (v) by the times of column 1 (t), without 1 line of other text above the "
            "table, the line below its head and 2 lines that repeat its head");
  EXPECT_EQ(parse_series("v\n1\n2\nv\n3\n", "x")->columns, "without 1 line that repeats its head");
  EXPECT_EQ(parse_series("5\n5\n5\n6\n", "x")->values.size(), 4) << "no head";
}

TEST(ParseSeries, marks_of_words_and_signs_are_hinted_at) {
  for (const std::string mark : {"k.A.", "n.a.", "#N/A", "no data", "Ice", "***"})
    EXPECT_EQ(parse_series("t,v\n0,1\n1," + mark + "\n2,3\n", "x").error().message,
              "x:3: '" + mark +
                  "' is no number; where it stands for a missing value, say "
                  "--missing '" +
                  mark + "'");
  for (const std::string word : {"1.2.3", "4 m", "12*", "it's", "--x"})
    EXPECT_EQ(parse_series("t,v\n0,1\n1," + word + "\n2,3\n", "x").error().message,
              "x:3: '" + word + "' is no number");
}

TEST(ParseSeries, what_nvidia_smi_could_not_tell_is_missing) {
  const auto series = parse_series(
      "0,5\n1,[Unknown Error]\n2,[Not Supported]\n3,[GPU requires reset]\n4,[N/A]\n5,6\n", "x");
  ASSERT_TRUE(series) << series.error().message;
  for (const size_t i : {1, 2, 3, 4}) EXPECT_TRUE(std::isnan(series->values[i])) << i;
}

}  // namespace
}  // namespace assay::analysis
