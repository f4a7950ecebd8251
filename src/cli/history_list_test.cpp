// SPDX-License-Identifier: Apache-2.0
#include "history_list.h"

#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <sstream>

#include <gtest/gtest.h>

namespace assay::cli {
namespace {

constexpr Timestamp kNow = from_unix_ns(1'770'000'000'000'000'000);  // 2026-02-02 02:40 UTC

ListedSession example() {
  ListedSession listed;
  listed.summary = {"20260131-120000-7f3a",
                    "waggle/objcounter:0.1.0",
                    "pole-7",
                    from_unix_ns(1'769'860'800'000'000'000),
                    2,
                    "finished"};
  listed.record.app = {"waggle", "objcounter", "0.1.0", ""};
  RunRecord run;
  run.ended = run.started + std::chrono::seconds(32);
  listed.record.runs = {run, run};
  listed.goals = 4;
  listed.goals_met = 3;
  return listed;
}

class HistoryTable : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TZ", "EST5", 1);
    ::tzset();
  }
};

TEST_F(HistoryTable, tells_each_session_in_a_line_with_local_time) {
  EXPECT_EQ(history_table({example()}, kNow),
            "SESSION              STARTED      APP                STATUS      GOALS     TIME\n"
            "20260131-120000-7f3a Jan 31 07:00 objcounter:0.1.0   finished    3 of 4    1:04\n");
}

TEST_F(HistoryTable, keeps_times_in_line_beside_many_goals) {
  ListedSession many = example();
  many.goals = 11;
  many.goals_met = 8;
  EXPECT_EQ(history_table({many, example()}, kNow),
            "SESSION              STARTED      APP               STATUS      GOALS      TIME\n"
            "20260131-120000-7f3a Jan 31 07:00 objcounter:0.1.0  finished    8 of 11    1:04\n"
            "20260131-120000-7f3a Jan 31 07:00 objcounter:0.1.0  finished    3 of 4     1:04\n");
}

TEST_F(HistoryTable, tells_the_year_of_what_is_old) {
  const auto later = kNow + std::chrono::hours(24 * 365);
  EXPECT_NE(history_table({example()}, later).find(" Jan 31  2026 "), std::string::npos);
}

TEST_F(HistoryTable, fits_eighty_columns_and_has_labels_below) {
  ListedSession listed = example();
  listed.record.app.name = std::string(200, 'a');
  listed.summary.status = "interrupted";
  listed.record.runs[0].ended += std::chrono::hours(20);
  listed.record.labels = {{"branch", "main"}, {"site", "river"}};
  const std::string text = history_table({listed}, kNow);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_TRUE(text.ends_with("\n  branch=main, site=river\n")) << text;
}

TEST(ListedSession, counts_no_time_for_a_run_that_has_not_ended) {
  ListedSession listed = example();
  listed.record.runs[1].started = listed.record.runs[1].ended + std::chrono::hours(1);
  EXPECT_EQ(listed.duration(), std::chrono::seconds(32));
}

}  // namespace
}  // namespace assay::cli
