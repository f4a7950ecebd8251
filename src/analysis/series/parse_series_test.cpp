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

TEST(ParseSeries, dates_without_a_time_and_as_germans_write_them) {
  for (const char* text : {"date,visitors\n2023-11-14,1\n2023-11-15,2\n2023-11-16,3\n",
                           "2023/11/14,1\n2023/11/15,2\n2023/11/16,3\n",
                           "Tag;n\n14.11.2023;1\n15.11.2023;2\n16.11.2023;3\n",
                           "14.11.2023 00:00\t1\n15.11.2023 00:00:00\t2\n16.11.2023 00:00\t3\n"}) {
    const auto series = parse_series(text, "x.csv");
    ASSERT_TRUE(series) << series.error().message;
    EXPECT_EQ(series->start, 1699920000) << text;
    EXPECT_EQ(series->step_seconds, 86400) << text;
    EXPECT_EQ(series->values, (std::vector<double>{1, 2, 3})) << text;
  }
  for (const char* text : {"t,v\n2023-13-14,1\n", "t,v\n31.02.2023,1\n", "t,v\n1.2.3,1\n"})
    EXPECT_FALSE(parse_series(text, "x.csv")) << text;
}

TEST(ParseSeries, dates_with_slashes_where_one_number_can_be_no_month) {
  for (const char* text :
       {"01/12/2021,1\n01/13/2021,2\n01/14/2021,3\n", "12/01/2021,1\n13/01/2021,2\n14/1/2021,3\n",
        "1-12-2021,1\n1-13-2021,2\n1-14-2021,3\n",
        "d,v\n1/12/2021 12:00 AM,1\n1/13/2021 0:00,2\n1/14/2021 00:00:00,3\n"}) {
    const auto series = parse_series(text, "x");
    ASSERT_TRUE(series) << text << series.error().message;
    EXPECT_EQ(series->start, 1610409600) << text;
    EXPECT_EQ(series->step_seconds, 86400) << text;
    EXPECT_EQ(series->values, (std::vector<double>{1, 2, 3})) << text;
  }
  EXPECT_TRUE(parse_series("d,v\n12/31/2021,1\n31/12/2021,2\n", "x")
                  .error()
                  .message.starts_with("x:3: '31/12/2021' is no time"));
}

TEST(ParseSeries, dates_with_slashes_of_which_one_reading_is_in_order) {
  const auto months =
      parse_series("1/5/2021,1\n2/5/2021,2\n3/5/2021,3\n4/5/2021,4\n1/6/2021,5\n2/6/2021,6\n", "x");
  ASSERT_TRUE(months) << months.error().message;
  EXPECT_EQ(months->start, 1619827200) << "the 1st of May";
  const auto hours = parse_series(
      "d,v\n1/2/2021 11:00 AM,1\n1/2/2021 12:00 PM,2\n1/2/2021 1:00 PM,3\n1/3/2021 1:00 PM,4\n"
      "1/4/2021 1:00 PM,5\n12/1/2020 1:00 PM,0\n1/13/2021 1:00 PM,9\n",
      "x");
  ASSERT_TRUE(hours) << hours.error().message;
  EXPECT_EQ(hours->step_seconds, 86400);
}

TEST(ParseSeries, dates_with_slashes_of_which_one_reading_is_even) {
  std::string table = "month,flow\n";
  for (int i = 0; i < 15; ++i)
    table += std::to_string(i % 12 + 1) + "/1/" + std::to_string(2021 + i / 12) + ",5\n";
  const auto series = parse_series(table, "x");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(series->values.size(), 15) << "months, and no days of January";
}

TEST(ParseSeries, dates_with_slashes_that_are_the_same_by_both_readings) {
  std::string table = "d,v\n";
  for (int hour = 0; hour < 24; ++hour)
    table += "5/5/2026 " + std::to_string(hour) + ":00," + std::to_string(hour) + "\n";
  const auto series = parse_series(table, "x");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(series->start, 1777939200);
  EXPECT_EQ(series->step_seconds, 3600);
}

TEST(ParseSeries, dates_with_slashes_that_nothing_tells_are_refused) {
  for (const char* text : {"d,v\n01/02/2021,1\n01/03/2021,2\n01/04/2021,3\n",
                           "01/01/2021,1\n04/01/2021,2\n07/01/2021,3\n10/01/2021,4\n",
                           "01/01/2021,1\n03/01/2021,2\n05/01/2021,3\n07/01/2021,4\n09/01/2021,5\n",
                           "01/03/2021,1\n01/03/2022,2\n01/03/2023,3\n01/03/2024,4\n"})
    EXPECT_NE(parse_series(text, "x").error().message.find(
                  "/2021' may have the day or the month first, and no row tells which; write dates "
                  "as 2026-01-31"),
              std::string::npos)
        << text;
}

TEST(ParseSeries, years_of_two_digits_where_the_century_is_sure) {
  const auto series = parse_series("30.12.99;1\n31.12.99;2\n01.01.00;3\n02.01.00 0:00;4\n", "x");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(series->start, 946512000);
  EXPECT_EQ(series->values, (std::vector<double>{1, 2, 3, 4}));
  for (const char* text : {"d,v\n01.01.50,1\n02.01.50,2\n", "d,v\n01/13/21,1\n01/14/21,2\n"})
    EXPECT_FALSE(parse_series(text, "x")) << text;
}

TEST(ParseSeries, versions_are_no_dates) {
  for (const char* text :
       {"seconds,temp,firmware\n1,20,1.2.10\n2,21,1.2.11\n3,22,1.2.12\n",
        "seconds,temp,firmware\n1,20,10.11.12\n2,21,10.11.13\n3,22,10.11.14\n"}) {
    const auto series = parse_series(text, "x");
    ASSERT_TRUE(series) << series.error().message;
    EXPECT_EQ(series->columns, "column 2 (temp) by the times of column 1 (seconds)");
    EXPECT_EQ(series->step_seconds, 1);
  }
  EXPECT_EQ(parse_series("index,v,date\n0,20,30.11.12\n1,21,01.12.12\n", "x")->step_seconds, 86400);
  EXPECT_EQ(parse_series("index,day,v\n0,2012-11-30,5\n1,2012-12-01,6\n", "x")->step_seconds,
            86400);
}

TEST(ParseSeries, times_of_a_day_with_points_are_no_dates) {
  EXPECT_EQ(parse_series("clock,v\n10.05.00,1\n10.05.10,2\n10.05.20,3\n10.05.30,4\n", "x")
                .error()
                .message,
            "x: '10.05.30' may be a date or a time of day, since only its last number differs from "
            "those of other rows; write years with four digits, or times as 2026-01-31 10:05:00");
  EXPECT_TRUE(parse_series("31.12.20;1\n31.12.20;2\n31.12.21;3\n", "x")) << "a clock goes on";
}

TEST(ParseSeries, dates_before_1970) {
  for (const char* text : {"date,flow\n1931-05-01,1\n1931-05-02,2\n1931-05-03,3\n",
                           "01.05.1931;1\n02.05.1931;2\n03.05.1931;3\n",
                           "1931-04-30 24:00,1\n1931-05-02T01:00:00+01:00,2\n1931-05-02 24:00,3\n",
                           "-1220400000,1\n-1220313600,2\n-1220227200,3\n",
                           "-1220400000000,1\n-1220313600000,2\n-1220227200000,3\n",
                           "-1220400000000000,1\n-1220313600000000,2\n-1220227200000000,3\n"}) {
    const auto series = parse_series(text, "x");
    ASSERT_TRUE(series) << series.error().message;
    EXPECT_EQ(series->start, -1220400000) << text;
    EXPECT_EQ(series->step_seconds, 86400) << text;
    EXPECT_EQ(series->values, (std::vector<double>{1, 2, 3})) << text;
    EXPECT_TRUE(series->dated) << text;
  }
  EXPECT_FALSE(parse_series("1677-01-01,1\n1677-01-02,2\n", "x"));
}

TEST(ParseSeries, one_unit_for_all_numbers_also_for_those_near_to_1970) {
  std::string table = "time,value\n";
  for (int day = -2000; day <= 2000; day += 500)
    table += std::to_string(day * 86'400'000LL) + "," + std::to_string(day) + "\n";
  const auto series = parse_series(table, "x");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(series->start, -2000 * 86400);
  EXPECT_EQ(series->step_seconds, 500 * 86400);
  EXPECT_EQ(series->values.size(), 9);
  EXPECT_TRUE(series->dated);
}

TEST(ParseSeries, which_times_are_dates) {
  for (const char* text :
       {"1970-01-01,1\n1970-01-02,2\n", "1969-12-31 23:59,1\n1970-01-01 00:01,2\n",
        "1700000000,1\n1700000060,2\n", "year,v\n1969,1\n1970,2\n"})
    EXPECT_TRUE(parse_series(text, "x")->dated) << text;
  for (const char* text : {"0,1\n60,2\n", "t,v\n-60,1\n0,2\n", "t,v\n0,1\n100000000,2\n",
                           "t,v\n20000000000,1\n20000000060,2\n", "1\n2\n"})
    EXPECT_FALSE(parse_series(text, "x")->dated) << text;
}

TEST(ParseSeries, a_day_may_end_at_24) {
  const auto series = parse_series(
      "t,v\n2026-01-31 22:00,1\n2026-01-31 23:00,2\n2026-01-31 24:00,3\n2026-02-01T01:00,4\n"
      "01.02.2026 02:00,5\n",
      "x");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(series->step_seconds, 3600);
  EXPECT_EQ(series->values, (std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_TRUE(parse_series("2026-12-31T24:00:00Z,1\n2027-01-01T00:00:01,2\n", "x"));
  EXPECT_FALSE(parse_series("2026-01-31 24:01,1\n2026-02-01 01:00,2\n", "x"));
  EXPECT_FALSE(parse_series("2026-01-31 25:00,1\n2026-02-01 01:00,2\n", "x"));
}

TEST(ParseSeries, times_may_be_years) {
  for (const char* text :
       {"year,flow\n1987,1\n1988,2\n1990,4\n1989,3\n", "1987,1\n1988,2\n1989,3\n1990,4\n"}) {
    const auto series = parse_series(text, "x");
    ASSERT_TRUE(series) << series.error().message;
    EXPECT_TRUE(series->years);
    EXPECT_EQ(series->step_seconds, kSecondsOfYear);
    EXPECT_EQ(series->start, 536457600) << "1987-01-01";
    EXPECT_EQ(series->time(2), 599616000) << "1989-01-01";
    EXPECT_EQ(series->year(3), 1990);
    EXPECT_EQ(series->values, (std::vector<double>{1, 2, 3, 4}));
  }
  const auto old = parse_series("year,flow\n1901,1\n1911,2\n1921,3\n", "x");
  EXPECT_EQ(old->year(2), 1921);
  EXPECT_EQ(old->time(0), -2177452800) << "1901-01-01";
  EXPECT_EQ(old->year(10'000), 101'901);
  EXPECT_NEAR(old->time(10'000), (101'901 - 1970) * kSecondsOfYear, 86400) << "no calendar ends";
  EXPECT_EQ(old->step_seconds, 10 * kSecondsOfYear);
  for (const char* text :
       {"seconds,flow\n1987,1\n1988,2\n", "0,1\n1987,1\n3974,2\n", "t,v\n1987.5,1\n1988,2\n"})
    EXPECT_FALSE(parse_series(text, "x")->years) << text;
}

TEST(ParseSeries, decimal_commas_where_commas_part_no_cells) {
  for (const char* text : {"Zeit;Pegel\n0;2,5\n1;-0,25\n2;3\n", "0;2,5\n1;-0,25\n2;3\n",
                           "0,0\t2,5\n1,0\t-0,25\n2,0\t3\n"}) {
    const auto series = parse_series(text, "x.csv");
    ASSERT_TRUE(series) << text << series.error().message;
    EXPECT_EQ(series->values, (std::vector<double>{2.5, -0.25, 3})) << text;
  }
  EXPECT_EQ(parse_series("t;v\n0;1\n1;1.234,5\n", "x").error().message,
            "x:3: '1.234,5' is no number; write numbers without a sign for thousands");
  EXPECT_EQ(parse_series("t,\"a; b\"\n0,1\n1,2\n", "x")->name, "a; b");
}

TEST(ParseSeries, a_number_with_a_comma_is_no_time_and_value) {
  for (const char* text :
       {"2,031\n1,998\n2,105\n", "2,031\n2,031\n", "1,234,567\n950,000\n1,300,100\n",
        "-1,234.50\n2,031.25\n", "1013,25\n1012,8\n1012,9\n", "12,5\n15,1\n19,8\n26,0\n",
        "1,000\n2,000\n3,000\n4,000\n", "1,031\n2,945\n5,120\n7,300\n"})
    EXPECT_EQ(parse_series(text, "x").error().message,
              "every line of x may be a time and a value, or one number with a comma in it; write "
              "numbers with a point for decimals and nothing for thousands, or a head above a "
              "table, as in time,value")
        << text;
}

TEST(ParseSeries, a_point_that_may_be_one_for_thousands_is_told) {
  const auto flow = parse_series("t;v\n0;999\n1;1.000\n2;1.001\n", "x");
  ASSERT_FALSE(flow);
  EXPECT_EQ(flow.error().message,
            "x:3: '1.000' may have a point for thousands or for decimals, as others have none; "
            "write nothing for thousands, and decimals with a comma, or as many in all rows");
  EXPECT_FALSE(parse_series("t;v\n0;999,5\n1;1.000\n2;\n3;-12.001\n", "x"));
  for (const char* text :
       {"t;v\n0;2.031\n1;1.998\n2;2.000\n", "t;v\n0;2\n1;2.125\n2;2.5\n", "t;v\n0;1\n1;0.125\n",
        "t;v\n0;1500\n1;1.125\n", "t;v\n0;5\n1;1500.125\n", "t,v\n0,999\n1,1.000\n",
        "t;v\n0;999\n1;1000\n"})
    EXPECT_TRUE(parse_series(text, "x")) << text;
}

TEST(ParseSeries, a_table_of_whole_numbers_is_no_number_with_a_comma) {
  for (const char* text :
       {"0,12\n1,13\n2,11\n", "1,120\n2,130\n3,110\n", "0,120\n10,130\n20,110\n30,100\n50,100\n",
        "3,12\n2,13\n1,11\n", "1700000060,120\n1700000001,130\n1700000060,110\n",
        "t,v\n2,031\n1,998\n2,105\n", "2,31\n3,\n5,105\n", "0, 120\n1, 130\n5, 110\n",
        "0,12.5\n7,13\n19,11\n"}) {
    const auto series = parse_series(text, "x");
    ASSERT_TRUE(series) << text << series.error().message;
    EXPECT_GT(series->step_seconds, 0) << text;
  }
}

TEST(ParseSeries, words_and_marks_for_missing_values) {
  const auto words = parse_series("1\n-\nNA\nnull\n--\n?\n2\n", "x");
  ASSERT_TRUE(words) << words.error().message;
  EXPECT_EQ(words->values.size(), 7);
  EXPECT_EQ(words->marked, 0);
  const auto marks = parse_series("t,temp\n0,-12\n1,-999\n2,30\n3,-9999.0\n4,-999\n", "x");
  ASSERT_TRUE(marks);
  EXPECT_EQ(marks->marked, 3);
  EXPECT_TRUE(std::isnan(marks->values[1]));
  EXPECT_TRUE(std::isnan(marks->values[3]));
  EXPECT_EQ(marks->values[0], -12);
  // A river's flow, of any range, is never below zero.
  EXPECT_EQ(parse_series("t,flow\n0,783\n1,-999\n2,0\n", "x")->marked, 1);
  // Where others are of that size, it is a value; and where there is no other.
  EXPECT_EQ(parse_series("-400\n-999\n-1200\n", "x")->marked, 0);
  EXPECT_EQ(parse_series("-999\n-999\n", "x")->marked, 0);
}

TEST(ParseSeries, the_name_of_the_column_and_its_unit) {
  EXPECT_EQ(parse_series("t,level\n0,1\n1,2\n", "x")->name, "level");
  EXPECT_EQ(parse_series("t,a,b\n0,1,5 %\n1,2,7 %\n", "x", {.column = "3"})->name, "b %");
  EXPECT_EQ(parse_series("0,1\n1,2\n", "x")->name, "");
}

TEST(ParseSeries, what_nvidia_smi_writes) {
  const auto series = parse_series(
      "timestamp, utilization.gpu [%], memory.used [MiB], power.draw [W]\n"
      "2023/11/14 22:13:20.000, 35 %, 1024 MiB, 61.20 W\n"
      "2023/11/14 22:13:21.000, 40 %, 1030 MiB, [N/A]\n",
      "smi.csv", {.column = "utilization.gpu [%]"});
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(series->start, 1700000000);
  EXPECT_EQ(series->step_seconds, 1);
  EXPECT_EQ(series->values, (std::vector<double>{35, 40}));
}

TEST(ParseSeries, one_of_several_columns) {
  constexpr const char* kTable = "t,cpu,gpu 0\n0,1,7\n1,2,8\n2,3,9\n";
  EXPECT_EQ(parse_series(kTable, "x", {.column = "gpu 0"})->values[2], 9);
  EXPECT_EQ(parse_series(kTable, "x", {.column = "3"})->values[2], 9);
  EXPECT_EQ(parse_series(kTable, "x", {.column = "2"})->values[2], 3);
  EXPECT_FALSE(parse_series(kTable, "x", {.column = "1"})) << "the time";
  EXPECT_FALSE(parse_series(kTable, "x", {.column = "4"}));
  EXPECT_EQ(parse_series(kTable, "x")->values[2], 3);
  EXPECT_EQ(parse_series(kTable, "x", {.column = "ram"}).error().message,
            "x has no column 'ram'; there are cpu, gpu 0");
}

/// As the USGS writes them: formats below the head, words before the time and behind the value.
constexpr const char* kRiver =
    "# some remarks\n"
    "agency_cd\tsite_no\tdatetime\ttz_cd\t69928_00065\t69928_00065_cd\t69929_00060\n"
    "5s\t15s\t20d\t6s\t14n\t10s\t14n\n"
    "USGS\t01646500\t2026-01-01 00:00\tEST\t5.31\tA\t100\n"
    "USGS\t01646500\t2026-01-01 00:15\tEST\tIce\tA\t101\n"
    "USGS\t01646500\t2026-01-01 00:30\tEST\t5.33\tP\t-7777\n"
    "USGS\t01646500\t2026-01-01 00:45\tEST\t5.34\tP\t103\n";

TEST(ParseSeries, times_behind_other_columns_are_found) {
  const auto level = parse_series(kRiver, "x", {.missing = {"ice"}});
  ASSERT_TRUE(level) << level.error().message;
  EXPECT_EQ(level->start, 1767225600);
  EXPECT_EQ(level->step_seconds, 900);
  EXPECT_EQ(level->name, "69928_00065");
  EXPECT_EQ(
      level->columns,
      "column 5 (69928_00065) by the times of column 3 (datetime), without the line below its "
      "head");
  ASSERT_EQ(level->values.size(), 4);
  EXPECT_TRUE(std::isnan(level->values[1]));
  EXPECT_EQ(level->values[3], 5.34);
  for (const char* column : {"69929_00060", "7"})
    EXPECT_EQ(parse_series(kRiver, "x", {.column = column})->values[1], 101);
  EXPECT_EQ(parse_series(kRiver, "x").error().message,
            "x:5: 'Ice' is no number; where it stands for a missing value, say --missing 'Ice'");
  const auto headless = parse_series("A,2026-01-01,7,1.5\nA,2026-01-02,7,2.5\nA,2026-01-03,7,3.5\n",
                                     "x", {.column = "4"});
  ASSERT_TRUE(headless) << headless.error().message;
  EXPECT_EQ(headless->values, (std::vector<double>{1.5, 2.5, 3.5}));
  const auto behind = parse_series("flow,day\n3,2026-01-01\n4,2026-01-02\n", "x");
  ASSERT_TRUE(behind) << behind.error().message;
  EXPECT_EQ(behind->values, (std::vector<double>{3, 4}));
}

TEST(ParseSeries, heads_are_told_without_what_a_terminal_would_obey) {
  constexpr const char* kTable = "t,H\xC3\xB6he,\033[31mb\xC2\x9B\n0,1,2\n1,2,3\n";
  EXPECT_EQ(parse_series(kTable, "x")->columns,
            "column 2 (H\xC3\xB6he) by the times of column 1 (t)");
  EXPECT_EQ(parse_series(kTable, "x", {.column = "3"})->columns,
            "column 3 (?[31mb?\?) by the times of column 1 (t)");
  EXPECT_EQ(parse_series(kTable, "x", {.column = "q"}).error().message,
            "x has no column 'q'; there are H\xC3\xB6he, ?[31mb?\?");
}

TEST(ParseSeries, the_column_of_times_can_be_said) {
  constexpr const char* kTwo =
      "id,local,utc,v\n7,2026-01-01 01:00,2026-01-01 00:00,1\n7,2026-01-01 02:00,2026-01-01 "
      "01:00,2\n";
  EXPECT_EQ(parse_series(kTwo, "x").error().message,
            "x has several columns of dates; say --time-column local or utc");
  for (const char* column : {"utc", "3"}) {
    const auto series = parse_series(kTwo, "x", {.time_column = column});
    ASSERT_TRUE(series) << series.error().message;
    EXPECT_EQ(series->start, 1767225600);
    EXPECT_EQ(series->values, (std::vector<double>{1, 2}));
  }
  const auto message = [&](const SeriesTable& asked) {
    return parse_series(kTwo, "x", asked).error().message;
  };
  EXPECT_EQ(message({.time_column = "cet"}), "x has no column 'cet'; there are id, local, utc, v");
  EXPECT_EQ(message({.column = "utc", .time_column = "utc"}),
            "x: column 'utc' has the times; --column is for the values");
  EXPECT_EQ(parse_series("1\n2\n", "x", {.time_column = "1"}).error().message,
            "x has one column only, and no times beside it");
  EXPECT_TRUE(parse_series("2,031\n1,998\n", "x", {.time_column = "1"}));
  // A date that is the same in all rows is no time where the first column counts.
  const auto same = parse_series("t,v,calibrated\n0,1,2026-01-01\n5,2,2026-01-01\n", "x");
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(same->step_seconds, 5);
}

TEST(ParseSeries, values_are_not_taken_for_times) {
  const auto message = [](const char* text) {
    const auto series = parse_series(text, "x");
    return series ? "" : series.error().message;
  };
  EXPECT_EQ(message("level,flow\n2.03,41\n2.27,52\n2.11,50\n"),
            "x: 'level' is no time: it rises in line 3 and falls in line 4; say in which column "
            "times are, as in "
            "--time-column 1, or --time-column none where there are none and each row is a step, "
            "and --column for the values");
  for (const auto& [text, why] :
       {std::pair{"level,flow,rain\n2,1,0\n1,2,0\n0,2,0\n1,2,0\n",
                  "'level' is no time: it rises in line 5 and falls in line 3"},
        {"site,flow\n7,1\n7,2\n7,3\n", "'site' is no time: it repeats itself in line 3"},
        {"volume,flow\n0,1\n1,2\n7,3\n9,4\n30,3\n", "'volume' is no time: its steps are uneven"},
        {"response time,flow\n3,1\n1,2\n2,3\n", "'response time' is no time: it rises"},
        {"bytes,flow\n1700000000,1\n1600000000,2\n1800000000,3\n", "'bytes' is no time: it rises"},
        {"2.5,1.5\n2.4,3\n2.6,2\n", "column 1 is no time: it rises in line 3 and falls in line 2"}})
    EXPECT_NE(message(text).find(why), std::string::npos) << text << message(text);
  for (const char* text :
       {"Time (s),v\n3,1\n1,2\n2,3\n", "unix_ms,v\n5,1\n1,2\n2,3\n", "Datum;v\n5;1\n1;2\n2;3\n",
        "seconds since start,v\n5,1\n1,2\n9,3\n", "minute,v\n0,1\n1,2\n2,3\n4,4\n",
        ",v\n0,1\n1,2\n2,3\n", "depth,v\n9,1\n8,2\n7,3\n", "0,1.5\n7,2\n19,3\n",
        "noted,v\n1700000000,1\n1700000007,2\n1700000107,3\n",
        "load,v\n2026-01-02,1\n2026-01-01,2\n"})
    EXPECT_EQ(message(text), "") << text;
}

TEST(ParseSeries, there_may_be_no_times) {
  constexpr const char* kTable = "site,level,flow\nA,2.0,41\nA,2.5,52\nA,2.1,50\n";
  const auto level = parse_series(kTable, "x", {.time_column = "none"});
  ASSERT_TRUE(level) << level.error().message;
  EXPECT_EQ(level->values, (std::vector<double>{2, 2.5, 2.1}));
  EXPECT_EQ(level->step_seconds, 0);
  EXPECT_EQ(level->columns, "column 2 (level), each row a step");
  const auto flow = parse_series(kTable, "x", {.column = "flow", .time_column = "none"});
  EXPECT_EQ(flow->values, (std::vector<double>{41, 52, 50}));
  EXPECT_EQ(parse_series("1\n2\n", "x", {.time_column = "none"})->values.size(), 2);
  EXPECT_EQ(parse_series("none,v\n0,8\n5,9\n", "x", {.time_column = "none"})->step_seconds, 5);
  EXPECT_EQ(parse_series("level,flow\n2,1\n1,2\n2,3\n", "x", {.column = "level"}).error().message,
            "x: column 'level' has the times; --column is for the values, and --time-column says "
            "where the times are, or none if there are none");
}

TEST(ParseSeries, which_numbers_are_the_times_is_told_also_of_two_columns) {
  EXPECT_EQ(parse_series("time,flow\n0,1\n1,2\n", "x")->columns,
            "column 2 (flow) by the times of column 1 (time)");
  EXPECT_EQ(parse_series("0,1\n1,2\n", "x")->columns, "column 2 by the times of column 1");
  EXPECT_EQ(parse_series("time,flow\n2026-01-01,1\n2026-01-02,2\n", "x")->columns, "");
  EXPECT_EQ(parse_series("1\n2\n", "x")->columns, "");
}

TEST(ParseSeries, what_else_is_missing_can_be_said) {
  const auto series = parse_series(
      "t,v\n0,1\n1,M\n2,-7777.0\n3,9.969209968386869E36\n4,5\n5,m\n6,-999\n7,-7777.5\n", "x",
      {.missing = {"M", "-7777", "9.96921e+36"}});
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(series->marked, 4);
  EXPECT_EQ(series->marks, "M, -7777 or 9.96921e+36");
  for (const size_t i : {1, 2, 3, 5}) EXPECT_TRUE(std::isnan(series->values[i])) << i;
  EXPECT_EQ(series->values[7], -7777.5);
  const auto both = parse_series("5\n-1\n-999\n4\n", "x", {.missing = {"-1"}});
  EXPECT_EQ(both->marks, "-1 or -999");
  EXPECT_EQ(both->marked, 2);
  EXPECT_EQ(parse_series("M\n1\n2\n", "x", {.missing = {"M"}})->values.size(), 3) << "no head";
}

TEST(ParseSeries, the_first_line_of_excel_names_the_separator) {
  for (const char* text : {"sep=;\r\nDatum;Wert\r\n01.01.2021;3,5\r\n02.01.2021;4\r\n",
                           "\xEF\xBB\xBFsep=;\nDatum;Wert\n01.01.2021;3,5\n02.01.2021;4\n",
                           "SEP=,\nDatum,\"a;b\"\n01.01.2021,3.5\n02.01.2021,4\n"}) {
    const auto series = parse_series(text, "x");
    ASSERT_TRUE(series) << text << series.error().message;
    EXPECT_EQ(series->values, (std::vector<double>{3.5, 4}));
  }
  const auto wrong = parse_series("sep=;\nt;v\n0;1\n1;two\n", "x");
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(wrong.error().message.starts_with("x:4: ")) << wrong.error().message;
}

TEST(ParseSeries, marks_of_byte_order) {
  for (const char* text : {"\xEF\xBB\xBF# x\nt,v\n0,1\n1,2\n", "\xEF\xBB\xBFt,v\n0,1\n1,2\n"}) {
    const auto series = parse_series(text, "x");
    ASSERT_TRUE(series) << series.error().message;
    EXPECT_EQ(series->name, "v");
  }
  EXPECT_EQ(parse_series("\xEF\xBB\xBF"
                         "1\n2\n",
                         "x")
                ->values.size(),
            2);
  for (const std::string_view text : {std::string_view("\xFF\xFE"
                                                       "1\0\n\0",
                                                       6),
                                      std::string_view("\xFE\xFF\0"
                                                       "1\0\n",
                                                       6)})
    EXPECT_EQ(parse_series(text, "x").error().message,
              "x is text in UTF-16, as some programs of Windows save it; save it as CSV in UTF-8, "
              "or convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW");
}

TEST(ParseSeries, all_words_that_are_no_numbers_are_told_at_once) {
  const auto message = [](const std::string& text) {
    return parse_series(text, "x.csv").error().message;
  };
  EXPECT_EQ(message("1\nIce\n2\nEqp\n3\n4\n"),
            "x.csv:2: 'Ice' is no number, nor 'Eqp' in line 4; where such a word stands for a "
            "missing value, say --missing 'Ice,Eqp'");
  EXPECT_EQ(message("1\nIce\n2\nIce\n3\n1.2.3\n4 m\n"),
            "x.csv:2: 'Ice' is no number, nor '1.2.3' in line 6 or '4 m' in line 7 (4 such cells); "
            "where such a word stands for a missing value, say --missing 'Ice'");
  std::string many = "1\n";
  for (int i = 0; i < 8; ++i) many += "1:" + std::to_string(i) + "\n2\n";
  EXPECT_EQ(message(many),
            "x.csv:2: '1:0' is no number, nor '1:1' in line 4, '1:2' in line 6, '1:3' in line 8, "
            "'1:4' in line 10, '1:5' in line 12 or 2 other words");
  for (int i = 0; i < 500; ++i) many += "1:" + std::to_string(i) + "\n";
  EXPECT_NE(message(many).find("or at least 94 other words (508 such cells)"), std::string::npos)
      << message(many);
  EXPECT_TRUE(message("1\n2\nIce\n3\n4,5,6\n").starts_with("x.csv:3: 'Ice' is no number"))
      << "what comes first";
}

TEST(ParseSeries, what_is_wrong_is_told_with_its_line) {
  const auto message = [](const char* text) { return parse_series(text, "x.csv").error().message; };
  EXPECT_EQ(message(""), "x.csv is empty: there is no value in it");
  EXPECT_EQ(
      message("1\n2\nthree\n"),
      "x.csv:3: 'three' is no number; where it stands for a missing value, say --missing 'three'");
  EXPECT_EQ(message("t,v\nmonday,3\n"),
            "x.csv:2: 'monday' is no time; seconds since 1970, dates from 1678 on as "
            "2026-01-31T12:00:00Z, 2026-01-31, "
            "31.01.2026 12:00 or 01/31/2026, and years are read");
  EXPECT_EQ(message("time,value\n"), "x.csv has a head, but no value below it");
  EXPECT_EQ(
      message("# x\n1\n2\nthree\n"),
      "x.csv:4: 'three' is no number; where it stands for a missing value, say --missing 'three'");
  EXPECT_EQ(message("1\n\x1b[31m\xff\n"), "x.csv:2: '?[31m?' is no number");
  EXPECT_EQ(message(("1\n" + std::string(5000, 'y')).c_str()),
            "x.csv:2: '" + std::string(60, 'y') + "…' is no number");
  EXPECT_EQ(message("t,v\n1,\"3\n2\n"), "x.csv: line 2: a quote is not closed");
  EXPECT_EQ(message("# one\n# two\nt,v\n1,\"3\n2\n"), "x.csv: line 4: a quote is not closed");
  EXPECT_EQ(message("0 1\n1 3\n2 7\n"),
            "x.csv:2: '1 3' is no number, nor '2 7' in line 3; cells have to be apart by commas, "
            "tabs or semicolons");
  EXPECT_EQ(parse_series(std::string_view("1\n2\n\0\0", 6), "x").error().message,
            "x:3: there is a NUL byte, which no text has; the file is of another kind, or its "
            "writing was cut off there");
  EXPECT_EQ(message("t,v\n1,3\n2\n"), "x.csv:3: the row has 1 of 2 cells");
  EXPECT_EQ(message("Datum,Pegel\n01.01.2026 00:00,2,031\n"),
            "x.csv:2: the row has 3 cells, the first one 2; decimal commas need tabs or semicolons "
            "between cells, or quotes, and there are none for thousands");
  EXPECT_TRUE(parse_series("t,v\n1,3,\n2,4,\n", "x.csv")) << "nothing stands in it";
  EXPECT_TRUE(message("t,v\n31.02.2026,3\n").starts_with("x.csv:2: '31.02.2026' is no time"));
  EXPECT_EQ(message("t,v\n1,3\n"), "x.csv: a series needs values at two different times at least");
}

TEST(ParseSeries, what_cannot_be_read_is_told_with_a_way_on) {
  const auto told = [](const std::string& text) {
    const auto series = parse_series(text, "x.csv");
    return series ? "read" : series.error().message;
  };
  const auto has = [&](const std::string& text, std::string_view words) {
    EXPECT_NE(told(text).find(words), std::string::npos) << told(text);
  };
  has("time,lead\n1,0.2\n2,<0.05\n3,0.3\n", "say --missing '<0.05'");
  EXPECT_TRUE(parse_series("time,lead\n1,0.2\n2,<0.05\n3,0.3\n", "x.csv", {.missing = {"<0.05"}}));
  has("time;flow\n1;1.477,68\n2;900,5\n", "write numbers without a sign for thousands");
  has("elapsed,value\n00:00:01,5\n00:00:02,6\n", "'00:00:01' is a time of no day");
  has("Date,Level\n45321,1.5\n45322,2.5\n", "days as spreadsheets count them");
  EXPECT_TRUE(parse_series("seconds,Level\n45321,1.5\n45322,2.5\n", "x.csv"));
}

}  // namespace
}  // namespace assay::analysis
