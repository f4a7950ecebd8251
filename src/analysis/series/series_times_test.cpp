// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fmt/format.h>
#include <string>

#include <assay/analysis/series_analysis.h>
#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

TEST(ParseSeries, dates_may_be_digits_only) {
  for (const auto& [text, step] :
       {std::pair{"time,q\n202603010000,1\n202603010100,2\n202603010200,3\n", 3600},
        {"20260301000000,1\n20260301000005,2\n20260301000010,3\n", 5},
        {"date,q\n20260301,1\n20260302,2\n20260303,3\n", 86400},
        {"Date,Time,q\n20260301,00:00,1\n20260301,01:00,2\n20260301,02:00,3\n", 3600},
        {"STATIONS_ID;MESS_DATUM; R1;eor\n     44;2026030100;  1.0;eor\n     44;2026030101;  "
         "2.0;eor\n     44;2026030102;  3.0;eor\n",
         3600}}) {
    const auto series = parse_series(text, "x");
    ASSERT_TRUE(series) << text << series.error().message;
    EXPECT_EQ(series->start, 1772323200) << text;
    EXPECT_EQ(series->step_seconds, step) << text;
    EXPECT_TRUE(series->dated) << text;
    EXPECT_EQ(series->values, (std::vector<double>{1, 2, 3})) << text;
  }
  for (const char* text : {"time,q\n1772323200,1\n1772326800,2\n1772330400,3\n",
                           "time,q\n1772323200000,1\n1772326800000,2\n1772330400000,3\n"})
    EXPECT_EQ(parse_series(text, "x")->start, 1772323200) << text;
  for (const char* text :
       {"s,q\n20260330,1\n20260331,2\n20260332,3\n", "2026033123,1\n2026033124,2\n2026033125,3\n"})
    EXPECT_EQ(parse_series(text, "x")->step_seconds, 1) << "counted: " << text;
}

TEST(ParseSeries, zones_and_clocks_of_dates_as_programs_write_them) {
  for (const char* text :
       {"t,v\n2026-03-01T00:00Z,1\n2026-03-01T01:00Z,2\n2026-03-01T02:00Z,3\n",
        "t,v\n2026-03-01T01:00+01:00,1\n2026-03-01T02:00+01:00,2\n2026-03-01T03:00+01:00,3\n",
        "t,v\n2026-02-28T19:00-05:00,1\n2026-02-28T20:00-05:00,2\n2026-02-28T21:00-05:00,3\n",
        "2026-03-01 01:00:00+0100,1\n2026-03-01 02:00:00+0100,2\n2026-03-01 03:00:00+01,3\n",
        "2026-02-28 19:00:00-05:00,1\n2026-02-28 20:00:00 -0500,2\n2026-02-28 21:00:00.5-05,3\n",
        "2026-03-01 00:00:00 UTC,1\n2026-03-01 01:00 GMT,2\n2026-03-01 02:00:00 +0000 UTC,3\n",
        "t,v\n\"01.03.2026, 00:00\",1\n\"01.03.2026, 01:00\",2\n\"01.03.2026, 02:00\",3\n",
        "t;v\n01.03.2026, 00:00;1\n01.03.2026, 01:00;2\n01.03.2026,02:00;3\n",
        "t,v\n\"3/1/2026, 12:00:00 AM\",1\n\"3/1/2026, 1:00:00 AM\",2\n"
        "\"3/1/2026, 2:00:00 AM\",3\n\"3/13/2026, 2:00:00 AM\",\n",
        "t,v\n01-Mar-2026 00:00,1\n01-Mar-2026 01:00,2\n1 Mar 2026 2:00,3\n"}) {
    const auto series = parse_series(text, "x");
    ASSERT_TRUE(series) << text << series.error().message;
    EXPECT_EQ(series->start, 1772323200) << text;
    EXPECT_EQ(std::llround(series->step_seconds), 3600) << text;
    ASSERT_GE(series->values.size(), 3) << text;
    EXPECT_EQ(series->values[2], 3) << text;
  }
  for (const char* text :
       {"t,v\n2026-03-01 00:00-01:00,1\n2026-03-01 01:00-02:00,2\n",
        "t,v\n2026-03-01 00:00 CEST,1\n2026-03-01 01:00 CEST,2\n",
        "t,v\n2026-03-01T00:00+1,1\n2026-03-01T01:00+1,2\n", "t,v\n01-Foo-2026,1\n02-Foo-2026,2\n",
        "t,v\n31-Feb-2026,1\n32-Feb-2026,2\n"})
    EXPECT_FALSE(parse_series(text, "x")) << text;
}

TEST(ParseSeries, a_date_may_be_spread_over_columns) {
  for (const char* text :
       {"Date,Time,Level\n2026-03-01,00:00,1\n2026-03-01,01:00,2\n2026-03-01,02:00,3\n",
        "Datum;Uhrzeit;Pegel\n01.03.2026;00:00;1\n01.03.2026;01:00;2\n01.03.2026;02:00;3\n",
        "Date,Time,Level\n2026-03-01 00:00:00,00:00,1\n2026-03-01 00:00:00,01:00,2\n"
        "2026-03-01 00:00:00,02:00,3\n",
        "2026-03-01,12:00 AM,1\n2026-03-01,1:00 AM,2\n2026-03-01,2:00 AM,3\n",
        "Year,Month,Day,Hour,Q\n2026,3,1,0,1\n2026,3,1,1,2\n2026,3,1,2,3\n",
        "Date,Hour,Load\n2026-03-01,0,1\n2026-03-01,1,2\n2026-03-01,2,3\n",
        "Date,Time,Load\n2026-03-01,0000,1\n2026-03-01,0100,2\n2026-03-01,0200,3\n",
        "Date;HOUR (HHMM);Load\n01.03.2026;0;1\n01.03.2026;100;2\n01.03.2026;200;3\n",
        "Year,DOY,Hour,Q\n2026,60,0,1\n2026,60,1,2\n2026,60,2,3\n",
        "site;Jahr;Monat;Tag;Stunde;Q\n7;2026;03;01;00;1\n7;2026;03;01;01;2\n7;2026;03;01;02;"
        "3\n"}) {
    const auto series = parse_series(text, "x");
    ASSERT_TRUE(series) << text << series.error().message;
    EXPECT_EQ(series->start, 1772323200) << text;
    EXPECT_EQ(series->step_seconds, 3600) << text;
    EXPECT_EQ(series->values, (std::vector<double>{1, 2, 3})) << text;
  }
  EXPECT_EQ(parse_series("Year,Month,Q\n2026,3,1\n2026,4,2\n", "x")->columns,
            "column 3 (Q) by the times of columns 1 (Year) and 2 (Month)");
  EXPECT_EQ(parse_series("Year,Month,Q\n2026,Mar,1\n2026,Apr,2\n", "x").error().message,
            "x has years in column 1 and months in column 2, but not as numbers; write numbers, "
            "or dates as 2026-01-31 in one column");
  EXPECT_EQ(parse_series("Date,break,v\n2026-03-01,00:30,1\n2026-03-02,00:45,2\n", "x")->start,
            1772323200)
      << "how long";
}

TEST(ParseSeries, days_may_be_those_of_the_year) {
  const auto series = parse_series("Year,DOY,Q\n2027,365,1\n2028,1,2\n2028,2,3\n", "x");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(series->start, 1830211200);
  EXPECT_EQ(series->step_seconds, 86400);
  EXPECT_EQ(parse_series("Year,DOY,Q\n2027,365,1\n2027,366,2\n", "x").error().message.substr(0, 16),
            "x:3: '2027-366' ");
}

TEST(ParseSeries, a_row_without_a_part_of_its_date_is_told) {
  for (const char* text : {"Date,Time,Q\n2026-03-01,01:00,1\n2026-03-01,02:00,2\n2026-03-01,,3\n",
                           "Date,Hour,Q\n2026-03-01,1,1\n2026-03-01,2,2\n2026-03-01,,3\n",
                           "Year,Month,Day,Q\n2026,3,1,1\n2026,3,2,2\n2026,3,,3\n"}) {
    const auto series = parse_series(text, "x");
    ASSERT_FALSE(series) << text;
    EXPECT_TRUE(series.error().message.starts_with("x:4: '2026-03-")) << series.error().message;
  }
}

TEST(ParseSeries, what_stands_beside_a_date_need_not_be_a_part_of_it) {
  const auto metals = parse_series("Year,Mo,Pb\n2026,0.4,3\n2027,0.7,2\n2028,0.6,1\n", "x");
  ASSERT_TRUE(metals) << metals.error().message;
  EXPECT_TRUE(metals->years);
  EXPECT_EQ(metals->values, (std::vector<double>{0.4, 0.7, 0.6}));
  std::string rests = "Date,rest,km\n";
  for (int day = 1; day < 9; ++day)
    rests += fmt::format("2026-03-0{},00:{}0,{}\n", day, day % 6, day);
  const auto days = parse_series(rests + "2026-03-08,00:10,9\n2026-03-09,00:20,7\n", "x");
  ASSERT_TRUE(days) << days.error().message;
  EXPECT_EQ(days->step_seconds, 86400) << "one day has two rows";
  std::string hearts = "Date,HR,Load\n", hours = hearts, digits = hearts;
  for (int i = 0; i < 12; ++i) {
    hearts += fmt::format("2026-03-0{},1{:02},{}\n", 1 + i / 3, 7 * i % 51, i);
    hours += fmt::format("2026-03-0{},{},{}\n", 1 + i / 3, i % 3, i);
  }
  const auto rates = parse_series(hearts, "x");
  ASSERT_TRUE(rates) << rates.error().message;
  EXPECT_EQ(rates->columns.find("(HR) by"), std::string::npos) << rates->columns;
  EXPECT_EQ(rates->columns.find("and 2 (HR)"), std::string::npos) << rates->columns;
  EXPECT_EQ(parse_series(hours, "x")->step_seconds, 3600);
  for (int i = 0; i < 48; ++i)
    digits += fmt::format("2026-03-0{},{:02}00,{}\n", 1 + i / 24, i % 24, i);
  EXPECT_EQ(parse_series(digits, "x")->step_seconds, 3600);
}

TEST(ParseSeries, the_times_of_influxdb_are_between_the_bounds) {
  const auto series = parse_series(
      ",_start,_stop,_time,_value\n,2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,"
      "2026-03-01T00:00:00Z,1\n,2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,2026-03-01T00:01:00Z,2\n",
      "x");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(series->step_seconds, 60);
}

TEST(ParseSeries, positions_are_no_seconds) {
  for (const char* head : {"Step", "index", "iteration", "\"train/global_step\"", "row", "Epoch"}) {
    const auto series = parse_series(std::string(head) + ",loss\n0,3\n10,2\n20,1\n", "x");
    ASSERT_TRUE(series) << series.error().message;
    EXPECT_EQ(series->step_seconds, 0) << head;
    EXPECT_EQ(series->values, (std::vector<double>{3, 2, 1}));
    const auto many = parse_series(std::string(head) + ",loss\n1500,3\n1510,2\n1520,1\n", "x");
    ASSERT_TRUE(many) << many.error().message;
    EXPECT_FALSE(many->years) << head;
  }
  EXPECT_EQ(parse_series("t,v\n0,3\n10,2\n", "x")->step_seconds, 10);
  EXPECT_EQ(parse_series("step,v\n1700000000,3\n1700000010,2\n", "x")->step_seconds, 10);
}

TEST(ParseSeries, seconds_since_anything_are_no_months) {
  const std::string months = "time,v\n0,1\n2678400,2\n5097600,3\n7776000,4\n";
  EXPECT_EQ(parse_series(months, "x")->months, 0) << "as long as January, February and March";
}

TEST(ParseSeries, a_month_is_its_first_day) {
  const auto series = parse_series("month,flow\n2000-01,1\n2000-02,2\n2000-03,3\n", "x");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(series->start, 946684800);
  EXPECT_EQ(series->values, (std::vector<double>{1, 2, 3}));
  EXPECT_FALSE(parse_series("month,flow\n2000-12,1\n2000-13,2\n", "x"));
}

}  // namespace
}  // namespace assay::analysis
