// SPDX-License-Identifier: Apache-2.0
#include "answer.h"

#include "test_run.h"

#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

TestRun measured() {
  TestRun t;
  t.run.ended = at(12);
  t.steady(MetricId::cpu_usage_seconds_total, 1.8);
  t.steady(MetricId::memory_bytes, 612e6);
  return t;
}

const Goal kLatency =
    make_goal("latency", "p95", Comparison::less_equal, 0.2, "latency.p95 <= 200ms");

std::string answer_with(RunStatus status) {
  TestRun t = measured();
  t.run.status = status;
  return t.analyze().answer;
}

TEST(Answer, tells_what_it_needs_and_what_it_reached) {
  TestRun t = measured();
  EXPECT_EQ(t.analyze().answer, "needs 1.8 cores and 612 MB");
  t.run.target.goals = {fps_goal()};
  t.event("fps", {{1, 12.4}});
  EXPECT_EQ(t.analyze().answer, "needs 1.8 cores and 612 MB; reached 12.4 of 10 fps");
}

TEST(Answer, needs_the_p95_of_cores_and_the_peak_of_memory) {
  TestRun t;
  t.run.ended = at(100);
  t.add(describe(MetricId::cpu_usage_seconds_total, Scope::app, "test"),
        {{0, 0}, {46, 23}, {96, 73}, {100, 85}});
  t.add(describe(MetricId::memory_bytes, Scope::app, "test"), {{0, 1e6}, {50, 9e6}, {51, 1e6}});
  EXPECT_EQ(t.analyze().answer, "needs 1 core and 9 MB");
}

TEST(Answer, needs_the_mean_of_cores_that_work_in_short_bursts) {
  TestRun t;
  t.run.ended = at(100);
  t.add(describe(MetricId::cpu_usage_seconds_total, Scope::app, "test"),
        {{0, 0}, {98, 0}, {100, 50}});
  EXPECT_EQ(t.analyze().answer, "needs 0.5 cores");
}

TEST(Answer, does_not_call_a_need_what_a_busy_node_left_over) {
  TestRun t;
  t.run.ended = at(12);
  t.steady(MetricId::cpu_usage_seconds_total, 0.12);
  t.steady(MetricId::memory_bytes, 40e6);
  t.steady(MetricId::cpu_usage_seconds_total, 3.9, Scope::node);
  EXPECT_EQ(t.analyze().answer, "needs 0.12 cores and 40 MB") << "it asked for no more";
  t.steady(MetricId::cpu_waiting_seconds_total, 0.9);
  EXPECT_EQ(t.analyze().answer, "got only 0.12 cores of a busy node and needs 40 MB");
  t.run.status = RunStatus::interrupted;
  EXPECT_EQ(t.analyze().answer,
            "was interrupted after 12 s; until then it got only 0.12 cores of a busy node and "
            "needed 40 MB");
}

TEST(Answer, does_not_call_a_need_what_a_limit_allowed) {
  TestRun t = measured();
  t.steady(MetricId::cpu_throttled_seconds_total, 0.4);
  EXPECT_EQ(t.analyze().answer, "got only 1.8 cores because of its CPU limit and needs 612 MB");
}

TEST(Answer, says_what_it_got_on_average) {
  TestRun t;
  t.run.ended = at(100);
  t.add(describe(MetricId::cpu_usage_seconds_total, Scope::app, "test"),
        {{0, 0}, {90, 18}, {100, 28}});
  t.steady(MetricId::cpu_throttled_seconds_total, 0.4);
  EXPECT_EQ(t.analyze().answer, "got only 0.28 cores because of its CPU limit");
}

TEST(Answer, does_not_pity_an_app_that_only_waited_while_it_started) {
  TestRun t;
  t.run.ended = at(10);
  t.add(describe(MetricId::cpu_usage_seconds_total, Scope::app, "test"), {{0, 0}, {1, 1}, {10, 1}});
  t.add(describe(MetricId::cpu_waiting_seconds_total, Scope::app, "test"),
        {{0, 0}, {1, 2}, {10, 2}});
  t.steady(MetricId::cpu_usage_seconds_total, 3.9, Scope::node);
  EXPECT_EQ(t.analyze().answer, "needs 1 core");
}

TEST(Answer, tells_no_cores_of_a_container_that_hardly_lived) {
  TestRun t;
  t.run.runtime = "docker";
  t.run.ended = at(0.2);
  t.run.exit.user_seconds = 0.05;
  t.run.exit.system_seconds = 0;
  t.steady(MetricId::memory_bytes, 4e6);
  EXPECT_EQ(t.analyze().answer, "needs 4 MB") << "the start of the container is in its CPU time";
  t.run.ended = at(0.25);
  EXPECT_EQ(t.analyze().answer, "needs 0.2 cores and 4 MB");
}

TEST(Answer, puts_several_goals_into_one_sentence) {
  TestRun t = measured();
  t.run.target.goals = {kLatency, fps_goal()};
  t.event("fps", {{1, 12.4}});
  t.event("latency", {{1, 0.35}});
  EXPECT_EQ(t.analyze().answer,
            "needs 1.8 cores and 612 MB; latency.p95 350 ms, over the 200 ms allowed; reached 12.4 "
            "of 10 fps");
}

TEST(Answer, tells_a_bound_that_was_kept) {
  TestRun t = measured();
  t.run.target.goals = {kLatency};
  t.event("latency", {{1, 0.15}});
  EXPECT_EQ(t.analyze().answer,
            "needs 1.8 cores and 612 MB; latency.p95 150 ms, within the 200 ms allowed");
}

TEST(Answer, tells_goals_that_were_never_reported) {
  TestRun t = measured();
  t.run.target.goals = {fps_goal(), kLatency};
  EXPECT_EQ(t.analyze().answer, "needs 1.8 cores and 612 MB; never reported fps and latency");
  t.event("fps", {{1, 9}});
  EXPECT_EQ(t.analyze().answer,
            "needs 1.8 cores and 612 MB; reached only 9 of 10 fps; never reported latency");
}

TEST(Answer, does_not_blame_the_app_for_what_this_machine_cannot_measure) {
  TestRun t = measured();
  t.run.target.goals = {make_goal("power", "mean", Comparison::less, 5, "power < 5 W")};
  EXPECT_EQ(t.analyze().answer, "needs 1.8 cores and 612 MB; could not be measured here: power");
  EXPECT_TRUE(t.advises("power_watts could not be measured here"));
  EXPECT_FALSE(t.advises("never reported"));
}

TEST(Answer, leads_with_an_end_that_is_not_the_apps_own) {
  EXPECT_EQ(answer_with(RunStatus::timeout),
            "was stopped at its timeout after 12 s; needs 1.8 cores and 612 MB");
  EXPECT_EQ(answer_with(RunStatus::interrupted),
            "was interrupted after 12 s; until then it needed 1.8 cores and 612 MB");
  EXPECT_EQ(answer_with(RunStatus::oom),
            "ran out of memory after 12 s; until then it needed 1.8 cores and 612 MB");
  EXPECT_EQ(answer_with(RunStatus::failed),
            "failed after 12 s; until then it needed 1.8 cores and 612 MB");
  EXPECT_EQ(answer_with(RunStatus::running),
            "still runs after 12 s; so far it needed 1.8 cores and 612 MB");
}

TEST(Answer, names_the_limit_that_was_too_small) {
  TestRun t = measured();
  t.run.status = RunStatus::oom;
  t.run.target.limits.memory_bytes = 640'000'000;
  EXPECT_EQ(
      t.analyze().answer,
      "ran out of memory after 12 s: its limit was 640 MB; until then it needed 1.8 cores and "
      "612 MB");
}

TEST(Answer, tells_how_it_failed) {
  TestRun t = measured();
  t.run.status = RunStatus::failed;
  t.run.exit.code = 3;
  EXPECT_EQ(t.analyze().answer,
            "failed with code 3 after 12 s; until then it needed 1.8 cores and 612 MB");
  t.run.exit.code.reset();
  t.run.exit.signal = 11;
  EXPECT_EQ(t.analyze().answer.substr(0, 37), "was killed by signal 11 after 12 s; u");
  t.run.exit.detail = "killed by SIGSEGV";
  EXPECT_EQ(t.analyze().answer.substr(0, 37), "failed after 12 s: killed by SIGSEGV;");
}

TEST(Answer, says_so_when_nothing_was_measured) {
  TestRun t;
  EXPECT_EQ(t.analyze().answer, "finished after 1 min 0 s; what it needs could not be measured");
  t.run.status = RunStatus::failed;
  t.run.ended = t.run.started;
  t.run.exit.detail = "no such command: x";
  EXPECT_EQ(t.analyze().answer, "failed: no such command: x; what it needs could not be measured");
}

TEST(Answer, does_not_claim_to_have_stopped_what_it_only_watched) {
  TestRun t = measured();
  t.run.status = RunStatus::timeout;
  t.run.isolation = "attached";
  EXPECT_EQ(t.analyze().answer, "was watched for 12 s; needs 1.8 cores and 612 MB");
}

}  // namespace
}  // namespace assay::analysis
