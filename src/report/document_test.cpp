// SPDX-License-Identifier: Apache-2.0
#include "testing/sample_views.h"

#include <limits>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::report {
namespace {

TEST(SessionDocument, has_the_parts_that_others_rely_on) {
  const Json json = session_document(testing::small_view());
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["session"], "20260131-120000-7f3a");
  EXPECT_EQ(json["app"]["name"], "objcounter");
  EXPECT_EQ(json["device"]["hostname"], "pole-17");
  const Json& run = json["runs"][0];
  EXPECT_EQ(run["status"], "finished");
  EXPECT_EQ(run["exit"]["code"], 0);
  EXPECT_DOUBLE_EQ(run["duration_seconds"].get<double>(), 60);
  for (const char* key : {"mean", "p50", "p95", "p99", "peak", "unit", "source"}) {
    EXPECT_TRUE(run["footprint"]["cpu_cores"].contains(key)) << key;
  }
  EXPECT_EQ(run["footprint"]["cpu_cores"]["mean"], 1.83);
  EXPECT_EQ(run["metrics"]["latency"]["unit"], "seconds");
  EXPECT_EQ(run["node"]["memory_bytes"]["mean"], 1.4e9);
  EXPECT_EQ(run["answer"], "needs 2.17 cores and 612 MB; reached 12.4 of 10 fps");
  EXPECT_EQ(run["advice"][0]["finding"], "The app waits for its disk in bursts.");
  EXPECT_EQ(run["not_measured"][1]["what"], "GPU");
  EXPECT_EQ(run["losses"][0]["count"], 3);
}

TEST(SessionDocument, tells_goals_with_value_only_where_there_is_one) {
  const Json goals = session_document(testing::small_view())["runs"][0]["goals"];
  EXPECT_EQ(goals[0]["goal"], "fps >= 10");
  EXPECT_EQ(goals[0]["value"], 12.4);
  EXPECT_EQ(goals[0]["met"], true);
  EXPECT_EQ(goals[1]["met"], false);
  EXPECT_EQ(goals[2]["goal"], "accuracy > 0.5");
  EXPECT_FALSE(goals[2].contains("value"));
}

TEST(SessionDocument, tells_what_others_used_and_whether_that_disturbed) {
  const Json runs = session_document(testing::page_view())["runs"];
  EXPECT_EQ(runs[0]["disturbed"], false);
  EXPECT_EQ(runs[1]["disturbed"], true);
  EXPECT_EQ(runs[1]["other_load"]["cpu_cores"]["mean"], 1.3);
  EXPECT_EQ(runs[1]["other_load"]["disk_read_bytes_per_second"]["mean"], 2e6);
  EXPECT_EQ(runs[1]["other_load"]["processes"][0], (Json{{"name", "ffmpeg"}, {"cpu_cores", 0.9}}));
  const Json unknown = session_document(testing::small_view())["runs"][0];
  EXPECT_FALSE(unknown.contains("disturbed"));
  EXPECT_FALSE(unknown.contains("other_load"));
}

TEST(SessionDocument, tells_what_ran_beside_the_app_apart_from_it) {
  const Json runs = session_document(testing::page_view())["runs"];
  EXPECT_EQ(runs[0]["needs"]["broker"]["cpu_cores"]["mean"], 0.2);
  EXPECT_EQ(runs[0]["needs"]["broker"]["memory_bytes"]["peak"], 9e7);
  EXPECT_EQ(runs[0]["footprint"]["cpu_cores"]["mean"], 1.83);
  EXPECT_FALSE(runs[1].contains("needs"));
}

TEST(SessionDocument, leaves_out_a_line_that_is_not_finite) {
  SessionView view = testing::small_view();
  view.runs[0].analysis.footprint[0].second.p99 = std::numeric_limits<double>::quiet_NaN();
  const Json json = session_document(view);
  EXPECT_FALSE(json["runs"][0]["footprint"].contains("cpu_cores"));
  EXPECT_TRUE(json["runs"][0]["footprint"].contains("memory_bytes"));
  EXPECT_EQ(json.dump().find("null"), std::string::npos);
}

TEST(SessionDocument, of_a_running_session_has_no_end) {
  SessionView view = testing::small_view();
  view.session.runs[0].status = RunStatus::running;
  view.session.runs[0].ended = {};
  const Json json = session_document(view);
  EXPECT_FALSE(json["runs"][0].contains("duration_seconds"));
  EXPECT_FALSE(json["runs"][0].contains("ended_unix_ns"));
}

TEST(SessionDocument, can_be_written_whatever_bytes_an_argument_has) {
  SessionView view = testing::small_view();
  view.session.runs[0].target.command.emplace_back("caf\xE9");
  EXPECT_NE(session_document(view).dump().find("caf\xEF\xBF\xBD"), std::string::npos);
}

TEST(SessionDocument, is_read_back_as_the_same_record) {
  const SessionView view = testing::small_view();
  const auto record = session_from_json(session_document(view)).value();
  EXPECT_EQ(to_json(record), to_json(view.session));
}

TEST(SessionDocument, keeps_runs_that_were_not_analysed) {
  SessionView view = testing::small_view();
  view.runs.clear();
  const Json json = session_document(view);
  EXPECT_EQ(json["runs"].size(), 1U);
  EXPECT_TRUE(json["runs"][0]["footprint"].empty());
}

}  // namespace
}  // namespace assay::report
