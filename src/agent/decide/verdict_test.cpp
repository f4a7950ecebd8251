// SPDX-License-Identifier: Apache-2.0
#include "decide/verdict.h"

#include <assay/samples/goal.h>
#include <gtest/gtest.h>

namespace assay::agent {
namespace {

using std::chrono::seconds;

GoalState goal(const std::string& text, std::optional<double> value) {
  return {.goal = parse_goal(text).value(), .reported = true, .value = value};
}

/// One that runs on a machine of four cores, half of which are idle, and has just reported.
Evidence app(const std::string& text, double value) {
  Evidence evidence;
  evidence.goals = {goal(text, value)};
  evidence.running = seconds(100);
  evidence.silent = seconds(1);
  evidence.cores = 1;
  evidence.throttled_share = 0;
  evidence.memory = 100e6;
  evidence.memory_peak = 120e6;
  evidence.node_cores = 4;
  evidence.node_idle_cores = 2;
  return evidence;
}

Finding judged(const Evidence& evidence) {
  return judge(evidence, Verdict::unknown);
}

TEST(Verdict, without_goals_there_is_none) {
  EXPECT_EQ(judged(Evidence()).verdict, Verdict::unknown);
}

TEST(Verdict, while_a_goal_is_not_known_there_is_none) {
  Evidence evidence = app("fps >= 10", 11);
  evidence.goals.push_back(goal("latency.p95 <= 200ms", std::nullopt));
  EXPECT_EQ(judged(evidence).verdict, Verdict::unknown);
}

TEST(Verdict, meets) {
  EXPECT_EQ(judged(app("fps >= 10", 11)).verdict, Verdict::meets);
  EXPECT_EQ(judged(app("fps >= 10", 9.95)).verdict, Verdict::meets) << "a camera's rate wavers";
  EXPECT_EQ(judged(app("latency.p95 <= 200ms", 0.15)).verdict, Verdict::meets);
}

TEST(Verdict, misses_when_nothing_is_short) {
  EXPECT_EQ(judged(app("fps >= 10", 6)).verdict, Verdict::misses);
}

TEST(Verdict, starved_by_its_own_limit) {
  Evidence evidence = app("fps >= 10", 6);
  evidence.cores_limit = 1;
  evidence.throttled_share = 0.6;
  EXPECT_EQ(judged(evidence), (Finding{Verdict::starved, Resource::cpu, true}));
}

TEST(Verdict, starved_by_others_on_a_full_machine) {
  Evidence evidence = app("fps >= 10", 6);
  evidence.node_idle_cores = 0.1;
  EXPECT_EQ(judged(evidence), (Finding{Verdict::starved, Resource::cpu, false}));
  evidence.cores = 0.01;
  EXPECT_EQ(judged(evidence).verdict, Verdict::misses) << "it does not even try";
}

TEST(Verdict, starved_by_others_as_pressure_tells) {
  Evidence evidence = app("fps >= 10", 6);
  evidence.cpu_wait_share = 0.4;
  EXPECT_EQ(judged(evidence), (Finding{Verdict::starved, Resource::cpu, false}));
}

TEST(Verdict, where_pressure_is_measured_a_full_machine_alone_is_no_shortage) {
  Evidence evidence = app("fps >= 10", 6);
  evidence.node_idle_cores = 0;
  evidence.cpu_wait_share = 0.03;
  EXPECT_EQ(judged(evidence).verdict, Verdict::misses);
}

TEST(Verdict, less_means_less) {
  EXPECT_EQ(judged(app("errors < 1", 1)).verdict, Verdict::misses);
  EXPECT_NE(judged(app("errors <= 1", 1)).verdict, Verdict::misses);
}

TEST(Verdict, waiting_for_memory_far_below_its_limit_is_not_its_own_limit) {
  Evidence evidence = app("fps >= 10", 6);
  evidence.memory_wait_share = 0.5;
  evidence.memory_limit = 1e9;
  EXPECT_EQ(judged(evidence), (Finding{Verdict::starved, Resource::memory, false}));
}

TEST(Verdict, starved_of_memory_and_of_the_disk) {
  Evidence evidence = app("fps >= 10", 6);
  evidence.memory_limit = 100e6;
  evidence.memory_limit_hits = 40;
  EXPECT_EQ(judged(evidence), (Finding{Verdict::starved, Resource::memory, true}));
  evidence = app("fps >= 10", 6);
  evidence.disk_wait_share = 0.7;
  EXPECT_EQ(judged(evidence), (Finding{Verdict::starved, Resource::disk, false}));
}

TEST(Verdict, hitting_the_memory_limit_by_file_cache_alone_is_no_shortage) {
  Evidence evidence = app("fps >= 10", 6);
  evidence.memory_limit = 500e6;
  evidence.memory_limit_hits = 40;
  EXPECT_EQ(judged(evidence).verdict, Verdict::misses);
}

TEST(Verdict, idle_rich_by_its_surplus) {
  const Evidence evidence = app("fps >= 1", 30);
  EXPECT_EQ(judged(evidence).verdict, Verdict::idle_rich);
  EXPECT_NEAR(spare_of(evidence).cores, 1 - 1.25 / 10, 1e-9);
}

TEST(Verdict, idle_rich_by_a_limit_far_above_its_use) {
  Evidence evidence = app("fps >= 10", 11);
  evidence.cores_limit = 4;
  EXPECT_EQ(judged(evidence).verdict, Verdict::idle_rich);
  evidence.cores_limit = 1.5;
  EXPECT_EQ(judged(evidence).verdict, Verdict::meets);
}

TEST(Verdict, idle_rich_by_memory) {
  Evidence evidence = app("fps >= 10", 11);
  evidence.memory_limit = 2e9;
  EXPECT_EQ(judged(evidence).verdict, Verdict::idle_rich);
  EXPECT_DOUBLE_EQ(spare_of(evidence).memory_bytes, 2e9 - 1.25 * 120e6);
}

TEST(Verdict, what_is_rich_stays_so_a_little_longer) {
  const Evidence evidence = app("fps >= 10", 17);
  EXPECT_EQ(judge(evidence, Verdict::meets).verdict, Verdict::meets);
  EXPECT_EQ(judge(evidence, Verdict::idle_rich).verdict, Verdict::idle_rich);
}

TEST(Verdict, stuck) {
  Evidence evidence = app("fps >= 10", 11);
  evidence.silent = seconds(30);
  EXPECT_EQ(judged(evidence).verdict, Verdict::stuck);
  evidence.silent.reset();
  EXPECT_EQ(judged(evidence).verdict, Verdict::stuck) << "it has never reported";
  evidence.running = seconds(59);
  EXPECT_NE(judged(evidence).verdict, Verdict::stuck) << "it is still starting";
}

TEST(Verdict, goals_about_what_it_uses_need_no_reports) {
  Evidence evidence = app("memory <= 1GB", 100e6);
  evidence.goals.front().reported = false;
  evidence.silent.reset();
  EXPECT_EQ(judged(evidence).verdict, Verdict::meets);
  EXPECT_FALSE(surplus_of(evidence)) << "using little memory is no surplus of cores";
}

class HeldTest : public ::testing::Test {
 protected:
  bool take(Finding finding, int second) {
    return held.take(finding, from_unix_ns(0) + seconds(1000 + second));
  }
  Held held;
};

TEST_F(HeldTest, a_verdict_has_to_last) {
  EXPECT_TRUE(take({Verdict::meets}, 0));
  EXPECT_FALSE(take({Verdict::misses}, 1));
  EXPECT_FALSE(take({Verdict::misses}, 5));
  EXPECT_TRUE(take({Verdict::misses}, 6));
  EXPECT_EQ(held.finding().verdict, Verdict::misses);
}

TEST_F(HeldTest, one_that_comes_and_goes_does_not_count) {
  take({Verdict::meets}, 0);
  for (int second = 1; second < 100; second += 4) {
    EXPECT_FALSE(take({Verdict::misses}, second));
    EXPECT_FALSE(take({Verdict::misses}, second + 3));
    EXPECT_FALSE(take({Verdict::meets}, second + 3));
  }
  EXPECT_EQ(held.finding().verdict, Verdict::meets);
}

TEST_F(HeldTest, riches_take_longer_and_silence_has_waited_already) {
  take({Verdict::meets}, 0);
  EXPECT_FALSE(take({Verdict::idle_rich}, 1));
  EXPECT_FALSE(take({Verdict::idle_rich}, 10));
  EXPECT_TRUE(take({Verdict::idle_rich}, 11));
  EXPECT_TRUE(take({Verdict::stuck}, 12));
}

}  // namespace
}  // namespace assay::agent
