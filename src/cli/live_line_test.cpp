// SPDX-License-Identifier: Apache-2.0
#include "live_line.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::cli {
namespace {

session::LiveView example() {
  session::LiveView view;
  view.run = 1;
  view.runs = 2;
  view.elapsed = std::chrono::seconds(12);
  view.left = std::chrono::seconds(48);
  view.cores = 1.824;
  view.memory_bytes = 612e6;
  view.reported = {{"fps", 12.4}, {"latency", 0.0813}};
  view.units = {{"fps", ""}, {"latency", "seconds"}};
  view.recent_cores = {0, 1, 2};
  return view;
}

TEST(ProgressText, cuts_a_long_name_rather_than_the_progress) {
  const std::string what = "pulling waggle/plugin-objectcounter:0.0.0";
  EXPECT_EQ(progress_text(what, 50'000'000, 100'000'000, 100),
            what + "  ██████████░░░░░░░░░░  50 %  50 MB of 100 MB");
  EXPECT_EQ(progress_text(what, 50'000'000, 100'000'000, 70),
            "pulling waggle/plugin-ob…  ██████████░░░░░░░░░░  50 %  50 MB of 100 MB");
  EXPECT_EQ(progress_text(what, 50'000'000, 100'000'000, 20), "pulling waggle/plugi");
}

TEST(LiveText, tells_how_to_insist_while_stopping) {
  session::LiveView view;
  view.elapsed = std::chrono::seconds(12);
  view.stopping = true;
  EXPECT_EQ(live_text(view, 80), "0:12, stopping; Ctrl-C again to insist");
}

TEST(LiveText, tells_time_needs_and_reports_with_their_units) {
  EXPECT_EQ(live_text(example(), 120),
            "run 1/2  0:12, 0:48 left   1.82 cores   612 MB  fps  12.4  latency 81.3 ms  ▁▄█");
}

TEST(LiveText, leaves_out_whole_parts_where_the_terminal_is_narrow) {
  EXPECT_EQ(live_text(example(), 59), "run 1/2  0:12, 0:48 left   1.82 cores   612 MB  fps  12.4");
  EXPECT_EQ(live_text(example(), 30), "run 1/2  0:12, 0:48 left");
  EXPECT_EQ(live_text(example(), 5), "");
}

TEST(LiveText, keeps_its_width_while_numbers_change) {
  session::LiveView other = example();
  other.cores = 12.5;
  other.memory_bytes = 1.82e9;
  other.reported = {{"fps", 9}, {"latency", 0.009}};
  EXPECT_EQ(live_text(other, 120).size(), live_text(example(), 120).size());
}

TEST(LiveText, does_not_number_a_single_run) {
  session::LiveView view = example();
  view.runs = 1;
  EXPECT_EQ(live_text(view, 24), "0:12, 0:48 left");
}

TEST(Erasure, takes_back_all_rows_of_a_line_that_a_narrower_terminal_broke) {
  EXPECT_EQ(erasure(0, 80), "");
  EXPECT_EQ(erasure(79, 80), "\r\033[K");
  EXPECT_EQ(erasure(79, 60), "\r\033[1A\033[J");
  EXPECT_EQ(erasure(79, 30), "\r\033[2A\033[J");
}

}  // namespace
}  // namespace assay::cli
