// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <assay/analysis/series_analysis.h>
#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

TEST(AboveTable, text_above_a_table_is_left_out_and_told) {
  for (const char* text :
       {"Station: Dresden\nOperator, since 1806\n\nDate;Level\n2026-01-01;1,5\n2026-01-02;2,5\n",
        "Station: Dresden\n\nDate,Level,Remark\n2026-01-01,1.5,a\n2026-01-02,2.5,b\n",
        "Station,Dresden\nLatitude,51.05\nDate,Level,Remark\n2026-01-01,1.5,a\n2026-01-02,2.5,b\n",
        "Station: Dresden;;\n;;\nDate;Level;Remark\n2026-01-01;1,5;a\n2026-01-02;2,5;b\n"}) {
    const auto series = parse_series(text, "x.csv");
    ASSERT_TRUE(series) << series.error().message << text;
    EXPECT_EQ(series->name, "Level");
    EXPECT_EQ(series->values, (std::vector<double>{1.5, 2.5})) << text;
    EXPECT_NE(series->columns.find("other text above the table"), std::string::npos)
        << series->columns;
  }
}

TEST(AboveTable, what_is_no_text_above_a_table_is_refused_as_before) {
  for (const char* text : {"level\n1,5\n2,7\n3,1\n", "999\n1,001\n1,002\n", "time,\n1,5\n2,7\n",
                           "Station: Dresden\n1,5\n2,7,8\n"})
    EXPECT_FALSE(parse_series(text, "x.csv")) << text;
}

TEST(AboveTable, units_below_a_head_are_left_out_and_told) {
  for (const char* text : {"Date,Level,Flow\nUTC,m,m3/s\n2026-01-01,1.5,9\n2026-01-02,2.5,8\n",
                           "Date,Level,Flow\n,m,\n2026-01-01,1.5,9\n2026-01-02,2.5,8\n"}) {
    const auto series = parse_series(text, "x.csv");
    ASSERT_TRUE(series) << series.error().message;
    EXPECT_EQ(series->values, (std::vector<double>{1.5, 2.5}));
    EXPECT_NE(series->columns.find("without the line below its head"), std::string::npos)
        << series->columns;
  }
  EXPECT_FALSE(parse_series("Date,Level\n2026-01-01,Ice\n2026-01-02,2.5\n", "x.csv"))
      << "it has a date";
}

}  // namespace
}  // namespace assay::analysis
