// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <assay/samples/records.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

SessionRecord example() {
  SessionRecord s;
  s.id = "20260131-120000-7f3a";
  s.app = {"waggle", "objcounter", "0.0.0", ""};
  s.device.hostname = "pole-7";
  s.device.cores = 4;
  s.created = from_unix_ns(1769860800000000001);
  s.labels = {{"site", "river"}};
  s.planned_runs = 3;
  RunRecord r;
  r.ordinal = 1;
  r.target.name = "small board";
  r.target.command = {"python3", "app.py", "--use-cpu"};
  r.target.limits.memory_bytes = 1U << 30U;
  r.target.limits.gpus = "all";
  r.target.limits.network = {2e6, Milliseconds(80), 0.01};
  r.target.runtime = "docker";
  r.target.docker_args = {"-e", "LEVEL=2"};
  r.target.dataset = "https://example.org/birds.tar";
  r.target.dataset_sha256 = std::string(64, 'a');
  r.target.playback = {{"top_live", "*.jpg", StreamKind::image, 2.5, false}};
  r.target.needs = {
      {"broker", "rabbitmq:3", {"serve"}, {{"A", "b"}}, 5672, "started", Milliseconds(1500)}};
  r.target.goals = {{"latency", "p95", Comparison::less_equal, 0.2, "latency.p95 <= 200ms"}};
  r.status = RunStatus::timeout;
  r.exit.signal = 2;
  r.exit.forks_refused = 4;
  r.board.throttling = {"under-voltage now"};
  r.sampling = Sampling{.achieved_interval = Milliseconds(101)};
  r.not_measured = {{"temperature", "no sensors"}};
  r.others = {{"ffmpeg", 1.25}, {"dockerd", 0.5}};
  r.elsewhere = Elsewhere{"n1", "agent on n1", -Milliseconds(90'500), Milliseconds(2)};
  r.losses = {{"hooks", "not JSON", 3}};
  r.started = from_unix_ns(10);
  r.ended = from_unix_ns(2'000'000'010);
  s.runs = {r};
  return s;
}

TEST(Records, survive_the_way_through_json) {
  const auto first = to_json(example());
  const auto back = session_from_json(Json::parse(first.dump()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), first);
  EXPECT_EQ(back->runs[0].target.goals[0].comparison, Comparison::less_equal);
  const Target& target = back->runs[0].target;
  EXPECT_EQ(target.name, "small board");
  EXPECT_EQ(target.limits.network.delay, Milliseconds(80));
  EXPECT_EQ(target.limits.network.loss_ratio, 0.01);
  EXPECT_EQ(target.playback[0].kind, StreamKind::image);
  EXPECT_FALSE(target.playback[0].loop);
  EXPECT_EQ(target.needs[0].ready_port, 5672);
  EXPECT_EQ(target.needs[0].ready_timeout, Milliseconds(1500));
  EXPECT_EQ(back->runs[0].others, example().runs[0].others);
  EXPECT_EQ(back->runs[0].elsewhere, example().runs[0].elsewhere);
  EXPECT_EQ(first["runs"][0]["duration_seconds"], 2.0);
}

TEST(Records, refuse_wrong_types_with_a_sentence) {
  EXPECT_FALSE(session_from_json(Json::parse(R"({"session": 5})")));
  EXPECT_FALSE(session_from_json(Json::parse(R"({"session": "x", "runs": [{"run": "one"}]})")));
  EXPECT_FALSE(session_from_json(Json::parse("[]")));
}

TEST(Records, missing_keys_have_defaults_and_unknown_ones_are_ignored) {
  const auto s = session_from_json(Json::parse(R"({"session": "x", "new": 1, "runs": [{}]})"));
  ASSERT_TRUE(s);
  EXPECT_EQ(s->runs[0].status, RunStatus::interrupted);
}

TEST(App, full_name_leaves_out_what_is_empty) {
  EXPECT_EQ(example().app.full_name(), "waggle/objcounter:0.0.0");
  EXPECT_EQ((App{"", "sleep", "", ""}).full_name(), "sleep");
}

}  // namespace
}  // namespace assay
