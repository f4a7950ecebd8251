// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <assay/analysis/series_analysis.h>
#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

TEST(ParseSeries, one_value_a_line) {
  const auto series = parse_series("1\n2.5\n\n nan\n-3e2\n+Inf\n", "x.csv");
  ASSERT_TRUE(series) << series.error().message;
  ASSERT_EQ(series->values.size(), 5);
  EXPECT_TRUE(std::isnan(series->values[4]));
  EXPECT_EQ(series->values[1], 2.5);
  EXPECT_TRUE(std::isnan(series->values[2]));
  EXPECT_EQ(series->values[3], -300);
  EXPECT_EQ(series->step_seconds, 0);
}

TEST(ParseSeries, a_table_with_times) {
  for (const char* text :
       {"time,value\n1700000000,1\n1700000060,2\n1700000120,\n1700000180,4\n",
        "1700000000000,1\n1700000060000,2\n1700000120000,null\n1700000180000,4\n",
        "1700000000000000,1\n1700000060000000,2\n1700000120000000,\n1700000180000000,4\n",
        "1700000000000000000,1\n1700000060000000000,2\n1700000120000000000,\n"
        "1700000180000000000,4\n",
        "time\tvalue\n1700000000\t1\n1700000060\t2\n1700000120\t\n1700000180\t4\n",
        "# of a board\n# in W\ntime;value\n1700000000;1\n1700000060;2\n1700000120;\n"
        "1700000180;4\n",
        "when,what\n2023-11-14T22:13:20Z,1\n2023-11-14 22:14:20,2\n2023-11-14T22:15:20.000Z,NA\n"
        "2023-11-14T23:16:20+01:00,4\n"}) {
    const auto series = parse_series(text, "x.csv");
    ASSERT_TRUE(series) << series.error().message;
    EXPECT_EQ(series->start, 1700000000) << text;
    EXPECT_EQ(series->step_seconds, 60);
    ASSERT_EQ(series->values.size(), 4);
    EXPECT_EQ(series->values[3], 4);
    EXPECT_TRUE(std::isnan(series->values[2]));
  }
}

TEST(ParseSeries, what_nvidia_smi_writes) {
  const auto series = parse_series(
      "timestamp, utilization.gpu [%], memory.used [MiB], power.draw [W]\n"
      "2023/11/14 22:13:20.000, 35 %, 1024 MiB, 61.20 W\n"
      "2023/11/14 22:13:21.000, 40 %, 1030 MiB, [N/A]\n",
      "smi.csv", "utilization.gpu [%]");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(series->start, 1700000000);
  EXPECT_EQ(series->step_seconds, 1);
  EXPECT_EQ(series->values, (std::vector<double>{35, 40}));
}

TEST(ParseSeries, one_of_several_columns) {
  constexpr const char* kTable = "t,cpu,gpu 0\n0,1,7\n1,2,8\n2,3,9\n";
  EXPECT_EQ(parse_series(kTable, "x", "gpu 0")->values[2], 9);
  EXPECT_EQ(parse_series(kTable, "x", "2")->values[2], 9);
  EXPECT_EQ(parse_series(kTable, "x")->values[2], 3);
  EXPECT_EQ(parse_series(kTable, "x", "ram").error().message,
            "x has no column 'ram'; there are cpu, gpu 0");
}

TEST(ParseSeries, what_is_wrong_is_told_with_its_line) {
  const auto message = [](const char* text) { return parse_series(text, "x.csv").error().message; };
  EXPECT_EQ(message(""), "x.csv is empty: there is no value in it");
  EXPECT_EQ(message("1\n2\nthree\n"), "x.csv:3: 'three' is no number");
  EXPECT_EQ(message("t,v\nmonday,3\n"),
            "x.csv:2: 'monday' is no time; seconds since 1970 or 2026-01-31T12:00:00Z are read");
  EXPECT_EQ(message("time,value\n"), "x.csv has a head, but no value below it");
  EXPECT_EQ(message("# x\n1\n2\nthree\n"), "x.csv:4: 'three' is no number");
  EXPECT_EQ(message("1\n\x1b[31m\xff\n"), "x.csv:2: '?[31m?' is no number");
  EXPECT_EQ(message(("1\n" + std::string(5000, 'y')).c_str()),
            "x.csv:2: '" + std::string(40, 'y') + "...' is no number");
  EXPECT_EQ(message("t,v\n1,3\n2\n"), "x.csv:3: the row has 1 of 2 cells");
  EXPECT_EQ(message("t,v\n1,3\n"), "x.csv: a series needs values at two different times at least");
}

}  // namespace
}  // namespace assay::analysis
