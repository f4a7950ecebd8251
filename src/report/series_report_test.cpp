// SPDX-License-Identifier: Apache-2.0
#include "series_picture.h"
#include "series_words.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>

#include <assay/report/series_report.h>
#include <gtest/gtest.h>

namespace assay::report {
namespace {

/// A day's cycle in values of a minute, with a gap.
SeriesView view_of(double step) {
  SeriesView view;
  view.name = "gpu <0>.csv";
  view.series.step_seconds = step;
  view.series.start = step > 0 ? 1'700'000'000 : 0;
  view.series.dated = step > 0;
  for (int i = 0; i < 480; ++i)
    view.series.values.push_back(50 + 30 * std::sin(2 * std::numbers::pi * i / 48) + i % 3);
  view.series.values[77] = std::numeric_limits<double>::quiet_NaN();
  view.analysis = *analysis::analyze_series(view.series, {});
  return view;
}

TEST(SeriesText, the_answer_comes_first_and_a_plot_behind_it) {
  const auto text = series_text(view_of(60), false, 90);
  EXPECT_TRUE(
      text.starts_with("gpu <0>.csv: repeats every 48 min (48 samples), bursty; the next 1 h "
                       "(60 samples):"))
      << text;
  EXPECT_NE(text.find("┊"), std::string::npos);
  EXPECT_NE(text.find("1 missing"), std::string::npos);
  EXPECT_NE(text.find("% of what is left without its drift"), std::string::npos) << text;
  EXPECT_NE(text.find("2023-11-14 22:13:20"), std::string::npos) << text;
  EXPECT_EQ(text.find('\033'), std::string::npos);
}

TEST(SeriesText, a_forecast_is_told_as_a_middle_and_not_as_an_average) {
  auto view = view_of(0);
  // Rain, on one day of five.
  for (size_t i = 0; i < view.series.values.size(); ++i)
    view.series.values[i] = i * 7919 % 97 < 19 ? static_cast<double>(1 + i * 31 % 23) : 0;
  view.analysis = *analysis::analyze_series(view.series, {});
  const auto text = series_text(view, false, 90);
  EXPECT_NE(text.find("the next 48 samples: typically "), std::string::npos) << text;
  EXPECT_EQ(text.find("average"), std::string::npos) << text;
}

TEST(SeriesText, without_times_it_counts_samples) {
  const auto text = series_text(view_of(0), false, 90);
  EXPECT_NE(text.find("repeats every 48 samples, bursty"), std::string::npos) << text;
  EXPECT_NE(text.find("value 1 "), std::string::npos) << text;
}

TEST(SeriesText, a_season_of_which_there_is_too_little_is_told_as_such) {
  auto view = view_of(3600);
  view.series.values.resize(120);
  view.analysis = *analysis::analyze_series(view.series, {});
  const auto text = series_text(view, false, 300);
  EXPECT_TRUE(
      text.starts_with("gpu <0>.csv: may repeat every 2 days (48 samples), though the record is "
                       "too short to tell, bursty; the next "))
      << text;
  EXPECT_NE(
      text.find("maybe every 2 days (48 samples): it is there 2.5 times only, and 4 are needed "
                "to tell; where you know that it repeats, say --season 48"),
      std::string::npos)
      << text;
  const auto document = series_document(view);
  EXPECT_EQ(document["possible_cycle"], (Json{{"period", 48.0}, {"period_seconds", 172800.0}}));
  EXPECT_FALSE(series_document(view_of(60)).contains("possible_cycle"));
  view.series.values.resize(191, 1);
  view.series.values.insert(view.series.values.begin(), 50, std::nan(""));
  EXPECT_NE(series_text(view, false, 300).find("it is there 3.9 times only"), std::string::npos);
}

TEST(SeriesText, a_series_that_ends_now_ends_now_and_an_old_one_at_its_last_value) {
  auto view = view_of(60);
  const double last = view.series.time(479);
  EXPECT_NE(series_text(view, false, 90).find("2023-11-15 06:12:20\n"), std::string::npos);
  view.now = last + 86400;
  EXPECT_EQ(series_text(view, false, 90).find("now"), std::string::npos);
  EXPECT_NE(series_page(view).find(">2023-11-15 06:12:20</text>"), std::string::npos);
  view.now = last + 61;
  EXPECT_NE(series_text(view, false, 90).find(" now\n"), std::string::npos);
  EXPECT_NE(series_page(view).find(">now</text>"), std::string::npos);
  EXPECT_NE(series_text(view_of(0), false, 90).find(" value 480\n"), std::string::npos);
}

TEST(SeriesText, years_are_told_as_years) {
  auto view = view_of(0);
  view.series.start = -31536000;  // 1969
  view.series.step_seconds = analysis::kSecondsOfYear;
  view.series.values.resize(56);
  view.series.years = view.series.dated = true;
  view.series.marked = 0;
  view.now = 1.76e9;
  view.analysis = *analysis::analyze_series(view.series, {.horizon = 10});
  view.analysis.changes = {{20, 1, 2}};
  const auto text = series_text(view, false, 200);
  EXPECT_NE(text.find("the next 10 years (10 samples)"), std::string::npos) << text;
  EXPECT_NE(text.find(" 1969 "), std::string::npos) << text;
  EXPECT_NE(text.find(" 2024\n"), std::string::npos) << text;
  EXPECT_NE(text.find("; its level changed from 1 to 2 in 1989; the next"), std::string::npos)
      << text;
  EXPECT_NE(text.find("  1 year "), std::string::npos) << text;
  const auto page = series_page(view);
  EXPECT_NE(page.find(">1980</text>"), std::string::npos);
  EXPECT_EQ(page.find("UTC"), std::string::npos);
}

TEST(SeriesText, of_several_changes_the_last_is_in_the_answer) {
  auto view = view_of(0);
  view.analysis.changes = {{20, 1, 2}, {60, 2, 5}};
  EXPECT_NE(series_answer(view).find("; its level changed 2 times, last from 2 to 5 at value 61;"),
            std::string::npos)
      << series_answer(view);
}

TEST(SeriesText, dates_before_1970_are_told_as_dates) {
  auto view = view_of(86400);
  view.series.start = -1'220'400'000;  // 1931-05-01
  view.analysis.changes = {{244, 1, 2}};
  const auto text = series_text(view, false, 90);
  EXPECT_NE(text.find(" 1931-05-01 "), std::string::npos) << text;
  EXPECT_NE(text.find(" 1932-08-22\n"), std::string::npos) << text;
  EXPECT_NE(text.find("from 1 to 2 at 1931-12-31"), std::string::npos) << text;
  EXPECT_EQ(series_document(view)["start"], -1'220'400'000);
  EXPECT_EQ(series_document(view)["change_points"][0]["time"], -1'220'400'000 + 244 * 86400);
  const auto page = series_page(view);
  for (const char* part : {">1931-07-01</text>", ">1932-01-01</text>", "times are UTC"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  // Where a step is not quite even, a date is the nearest one, on both sides of 1970.
  for (const double start : {-86400.0, 1.7e9 - 80000}) {
    view.series.start = start - 0.0001;
    EXPECT_EQ(series_text(view, false, 90).find(":59"), std::string::npos) << start;
  }
}

TEST(SeriesText, times_since_anything_are_none) {
  auto view = view_of(60);
  view.series.dated = false;
  EXPECT_NE(series_text(view, false, 90).find(" 7 h 59 min in\n"), std::string::npos);
  EXPECT_EQ(series_page(view).find("UTC"), std::string::npos);
}

TEST(SeriesPage, long_series_have_ticks_where_years_begin) {
  auto view = view_of(60 * 86400);
  view.series.start = -2'524'521'600;  // 1890-01-01, and 1900 has no 29th of February
  const auto page = series_page(view);
  for (const char* year : {"1900", "1920", "1960"})
    EXPECT_NE(page.find(std::string(">") + year + "-01-01</text>"), std::string::npos) << year;
  EXPECT_EQ(page.find("-12-31</text>"), std::string::npos);
}

SeriesView view_of_values(std::vector<double> values, const analysis::SeriesQuestions& questions) {
  SeriesView view{"x", {0, 0, std::move(values)}, {}};
  view.analysis = *analysis::analyze_series(view.series, questions);
  return view;
}

TEST(SeriesText, too_little_is_said_and_no_more) {
  EXPECT_TRUE(series_text(view_of_values({5}, {}), false, 90)
                  .starts_with("x: too little to tell: there is 1 value, and at least 8 are "
                               "needed\n"));
  const double none = std::numeric_limits<double>::quiet_NaN();
  const auto gaps = view_of_values({5, none, none, 6}, {});
  EXPECT_TRUE(series_text(gaps, false, 90)
                  .starts_with("x: too little to tell: 2 of 4 values are known, and at least 8 are "
                               "needed\n"));
  EXPECT_TRUE(series_document(gaps)["forecast"]["points"].empty());
  std::vector<double> rare(400, none);
  for (size_t i = 0; i < 200; i += 10) rare[i] = 3 + static_cast<double>(i % 30);
  EXPECT_NE(
      series_text(view_of_values(rare, {}), false, 200)
          .find("with 95 % of all values missing; too little is known of its end to tell what "
                "comes next"),
      std::string::npos);
}

TEST(SeriesText, values_have_as_many_digits_as_tell_them_apart) {
  auto view = view_of(3600);
  for (double& value : view.series.values) value = 1113.27 + 0.002 * value;
  view.series.rows = 500;
  view.analysis = *analysis::analyze_series(view.series, {});
  EXPECT_NE(series_answer(view).find("typically 1 113.3"), std::string::npos)
      << series_answer(view);
  EXPECT_NE(series_text(view, false, 300).find("1 113.31 to 1 113.43"), std::string::npos)
      << series_text(view, false, 300);
  for (double& value : view.series.values) value = 101.5;
  view.analysis = *analysis::analyze_series(view.series, {});
  EXPECT_TRUE(series_answer(view).starts_with("always 101.5; the next 2 days (48 samples): 101.5"))
      << series_answer(view);
}

TEST(SeriesText, that_most_times_are_there_twice_is_said_first) {
  auto view = view_of(3600);
  view.series.rows = 2 * view.series.values.size();
  EXPECT_TRUE(
      series_answer(view).starts_with("as means of 960 rows at 480 times: repeats every 2 days"))
      << series_answer(view);
}

TEST(SeriesText, a_season_that_was_said_is_in_the_answer) {
  std::vector<double> values;
  values.reserve(240);
  for (int i = 0; i < 240; ++i) values.push_back(50 + 30 * std::sin(2 * std::numbers::pi * i / 24));
  EXPECT_TRUE(series_text(view_of_values(values, {.season = 7}), false, 200)
                  .starts_with("x: with the season of 7 samples given, though by itself it repeats "
                               "every 24 samples, bursty; "));
  const auto view = view_of_values(values, {.season = 24});
  EXPECT_TRUE(series_text(view, false, 200)
                  .starts_with("x: with the season of 24 samples given, bursty; "));
  EXPECT_EQ(series_document(view)["season"], 24);
}

TEST(SeriesText, a_constant_is_one_line) {
  const auto view = view_of_values(std::vector<double>(100, 7), {});
  const auto text = series_text(view, false, 90);
  EXPECT_TRUE(text.starts_with("x: always 7; the next 25 samples: 7\n\n  7 ⠒")) << text;
  const auto below = text.find('\n', text.find("  7 ⠒"));
  EXPECT_TRUE(text.substr(below + 1).starts_with("    value 1 ")) << text;
  EXPECT_TRUE(series_document(view)["class"].is_null());
}

TEST(SeriesText, ends_of_a_small_range_are_told_apart) {
  std::vector<double> values(100, 1000.1);
  values[50] = 1000.4;
  const auto text = series_text(view_of_values(values, {}), false, 90);
  EXPECT_NE(text.find("\n  1000.4 "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  1000.1 "), std::string::npos) << text;
}

TEST(SeriesText, a_large_counter_that_moves_a_little_is_no_constant) {
  std::vector<double> values;
  values.reserve(100);
  for (int i = 0; i < 100; ++i) values.push_back(5e9 + std::floor(i / 20.0));
  const auto text = series_text(view_of_values(values, {}), false, 90);
  EXPECT_NE(text.find("\n  5 000 000 005 "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  5 000 000 000 "), std::string::npos) << text;
  EXPECT_TRUE(is_flat(0.1 + 0.2, 0.3)) << "as numbers are rounded";
}

TEST(SeriesPage, a_constant_is_in_the_middle_above_zero) {
  for (const auto& [value, ends] : {std::pair{5.0, std::pair{"0", "10"}},
                                    {5e6, {"0", "10 000 000"}},
                                    {-0.02, {"-0.04", "0"}},
                                    {0.0, {"-1", "1"}}}) {
    const auto view = view_of_values(std::vector<double>(100, value), {});
    const auto page = series_page(view);
    for (const std::string end : {ends.first, ends.second})
      EXPECT_NE(page.find("text-anchor=\"end\">" + end + "</text>"), std::string::npos)
          << value << " " << end << page.substr(page.find("<svg viewBox=\"0 0 960"), 3000);
    EXPECT_NE(page.find("class=\"past\" d=\"M70.0 159.0L"), std::string::npos) << value;
  }
}

TEST(SeriesPage, no_two_numbers_beside_the_axis_are_alike) {
  std::vector<double> values(100, 20.01);
  values[50] = 20.04;
  const auto page = series_page(view_of_values(values, {}));
  for (const std::string text : {"20.01", "20.02", "20.03"})
    EXPECT_NE(page.find("text-anchor=\"end\">" + text), std::string::npos) << text;
}

TEST(SeriesText, a_forecast_of_many_times_the_past_leaves_it_room) {
  auto view = view_of(60);
  view.analysis.forecast.points.resize(100'000, view.analysis.forecast.points.back());
  for (const size_t columns : {10, 24, 90})
    EXPECT_NE(series_text(view, false, columns).find("2023"), std::string::npos) << columns;
}

TEST(SeriesDocument, has_everything_by_name) {
  const auto document = series_document(view_of(60));
  EXPECT_NEAR(document["cycles"][0]["period"].get<double>(), 48, 0.1);
  EXPECT_NEAR(document["cycles"][0]["period_seconds"].get<double>(), 48 * 60, 6);
  EXPECT_GT(document["cycles"][0]["confidence"].get<double>(), 0.8);
  EXPECT_EQ(document["class"], "bursty");
  EXPECT_TRUE(document["change_points"].is_array());
  EXPECT_EQ(document["missing"], 1);
  EXPECT_EQ(document["forecast"]["points"].size(), 60);
  EXPECT_EQ(document["forecast"]["points"][0]["time"], 1'700'000'000 + 480 * 60);
  EXPECT_FALSE(series_document(view_of(0)).contains("step_seconds"));
}

TEST(SeriesPage, has_round_numbers_and_times_and_a_legend) {
  const auto page = series_page(view_of(60));
  for (const char* part : {">20</text>", ">80</text>", ">00:00</text>", ">02:00</text>",
                           ">2023-11-15</text>", "80 % interval", "times are UTC"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(page.find("the level changed"), std::string::npos);
}

TEST(RoundTicks, are_few_and_end) {
  EXPECT_EQ(round_ticks(0, 100, 6), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(round_ticks(-0.2, 0.9, 6),
            (std::vector<double>{-0.2, 0, 0.2, 0.4, 0.6000000000000001, 0.8}));
  EXPECT_EQ(round_ticks(1e16, 1e16 + 2, 6).size(), 2);
}

TEST(SeriesPage, stands_alone_and_escapes_names) {
  const auto page = series_page(view_of(60));
  EXPECT_NE(page.find("gpu &lt;0&gt;.csv"), std::string::npos);
  EXPECT_NE(page.find("class=\"in80\""), std::string::npos);
  for (const char* never : {"http", "<script", "src=", "nan", "inf\""})
    EXPECT_EQ(page.find(never), std::string::npos) << never;
}

}  // namespace
}  // namespace assay::report
