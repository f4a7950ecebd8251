// SPDX-License-Identifier: Apache-2.0
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
                       "(60 samples): "))
      << text;
  EXPECT_NE(text.find("┊"), std::string::npos);
  EXPECT_NE(text.find("1 missing"), std::string::npos);
  EXPECT_NE(text.find("2023-11-14 22:13:20"), std::string::npos) << text;
  EXPECT_EQ(text.find("\033"), std::string::npos);
}

TEST(SeriesText, without_times_it_counts_samples) {
  const auto text = series_text(view_of(0), false, 90);
  EXPECT_NE(text.find("repeats every 48 samples, bursty"), std::string::npos) << text;
  EXPECT_NE(text.find("value 1 "), std::string::npos) << text;
}

TEST(SeriesText, a_forecast_of_many_times_the_past_leaves_it_room) {
  auto view = view_of(60);
  view.analysis.forecast.points.resize(100'000, view.analysis.forecast.points.back());
  for (const size_t columns : {10, 24, 90})
    EXPECT_NE(series_text(view, false, columns).find("now"), std::string::npos) << columns;
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

TEST(SeriesPage, stands_alone_and_escapes_names) {
  const auto page = series_page(view_of(60));
  EXPECT_NE(page.find("gpu &lt;0&gt;.csv"), std::string::npos);
  EXPECT_NE(page.find("class=\"in80\""), std::string::npos);
  for (const char* never : {"http", "<script", "src=", "nan", "inf\""})
    EXPECT_EQ(page.find(never), std::string::npos) << never;
}

}  // namespace
}  // namespace assay::report
