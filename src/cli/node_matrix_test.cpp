// SPDX-License-Identifier: Apache-2.0
#include "node_matrix.h"

#include "job_options.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::cli {
namespace {

MatrixRow row(const std::string& kind, double cores, bool met) {
  MatrixRow row;
  row.kind = kind;
  row.node = "n-" + kind;
  row.view.emplace();
  RunRecord run;
  run.ordinal = 1;
  run.status = RunStatus::finished;
  run.started = from_unix_ns(1'700'000'000'000'000'000);
  run.ended = run.started + std::chrono::seconds(12);
  row.view->session.runs.push_back(run);
  report::SessionView::Run found;
  analysis::Distribution value;
  value.mean = cores;
  found.analysis.footprint = {{"cpu_cores", value}};
  value.peak = 2e8;
  found.analysis.footprint.emplace_back("memory_bytes", value);
  value.mean = 12.5;
  found.analysis.metrics = {{"fps", value}};
  found.analysis.goals = {{{}, 12.5, met, ""}};
  row.view->runs.push_back(std::move(found));
  return row;
}

std::vector<MatrixRow> rows() {
  std::vector<MatrixRow> all;
  all.push_back(row("a100", 1.5, true));
  all.push_back(row("orin-nano", 3.25, false));
  all.push_back({"t4", "", std::nullopt, "there is no agent", false, 4});
  return all;
}

TEST(NodeMatrix, has_a_line_for_each_kind) {
  EXPECT_EQ(matrix_text("model", rows()),
            "model      node         status    duration  cores  memory  fps   goals\n"
            "a100       n-a100       finished  12 s      1.5    200 MB  12.5  1 of 1 met\n"
            "orin-nano  n-orin-nano  finished  12 s      3.25   200 MB  12.5  0 of 1 met\n"
            "t4: there is no agent\n");
}

TEST(NodeMatrix, tells_also_what_a_session_could_not_do) {
  auto all = rows();
  all[1].error = "Job x could not be deleted";
  EXPECT_EQ(matrix_errors(all), "orin-nano: Job x could not be deleted\nt4: there is no agent\n");
  EXPECT_TRUE(matrix_text("model", all).ends_with(matrix_errors(all)));
}

TEST(NodeMatrix, is_a_document) {
  const Json json = matrix_document("model", rows());
  EXPECT_EQ(json["label"], "model");
  EXPECT_EQ(json["kinds"].size(), 3);
  EXPECT_EQ(json["kinds"][0]["node"], "n-a100");
  EXPECT_TRUE(json["kinds"][0]["session"].contains("runs"));
  EXPECT_EQ(json["kinds"][2], Json({{"kind", "t4"}, {"error", "there is no agent"}}));
}

TEST(NodeLike, is_a_label_and_perhaps_a_pattern) {
  EXPECT_EQ(parse_node_like("model")->pattern, "*");
  EXPECT_EQ(parse_node_like("board=orin*")->label, "board");
  EXPECT_EQ(parse_node_like("board=orin*")->pattern, "orin*");
  EXPECT_FALSE(parse_node_like("=x"));
  EXPECT_FALSE(parse_node_like("x="));
}

}  // namespace
}  // namespace assay::cli
