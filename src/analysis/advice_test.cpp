// SPDX-License-Identifier: Apache-2.0
#include "advice.h"

#include "test_run.h"

#include <gtest/gtest.h>

// Each rule both ways: it speaks on its case, and is silent just beside it.
namespace assay::analysis {
namespace {

/// A minute at four cores of which the app misses its goal.
TestRun misses_goal() {
  TestRun t;
  t.run.target.goals = {fps_goal()};
  t.event("fps", {{1, 3}});
  return t;
}

std::string evidence_of(const TestRun& t, const std::string& finding) {
  for (const auto& advice : t.analyze().advice) {
    if (advice.finding.find(finding) != std::string::npos) return advice.evidence;
  }
  return "";
}

TEST(Advice, on_running_out_of_memory) {
  TestRun t = healthy_run();
  EXPECT_FALSE(t.advises("out of memory"));
  t.run.status = RunStatus::oom;
  EXPECT_EQ(evidence_of(t, "out of memory"), "It had reached 300 MB on a device with 8 GB.");
  t.run.status = RunStatus::failed;
  t.run.exit.oom_killed = true;
  t.run.target.limits.memory_bytes = 310'000'000;
  EXPECT_EQ(evidence_of(t, "out of memory"), "It had reached 300 MB of the 310 MB it may use.");
  EXPECT_FALSE(t.advises("close to its memory limit"));
}

TEST(Advice, on_a_limit_of_processes_that_was_reached) {
  TestRun t = healthy_run();
  t.run.target.limits.pids = 20;
  EXPECT_FALSE(t.advises("processes and threads"));
  t.run.exit.forks_refused = 3;
  EXPECT_EQ(evidence_of(t, "processes and threads"),
            "Its limit of 20 processes was reached 3 times.");
}

TEST(Advice, on_a_cpu_limit_that_holds_it_back) {
  TestRun t;
  t.run.target.limits.cpus = 0.5;
  t.steady(MetricId::cpu_usage_seconds_total, 0.5);
  t.steady(MetricId::cpu_throttled_seconds_total, 0.4);
  EXPECT_EQ(
      evidence_of(t, "CPU limit"),
      "It was held back for 400 ms in every second, added up over its cores. It used 0.5 cores "
      "on average of the 0.5 allowed.");
  TestRun rarely;
  rarely.steady(MetricId::cpu_throttled_seconds_total, 0.01);
  EXPECT_FALSE(rarely.advises("CPU limit"));
}

TEST(Advice, on_memory_near_its_limit) {
  TestRun t = healthy_run();
  t.run.target.limits.memory_bytes = 320'000'000;
  EXPECT_EQ(evidence_of(t, "close to its memory limit"),
            "Its peak of 300 MB is 93.8 % of the 320 MB it may use.");
  t.run.target.limits.memory_bytes = 400'000'000;
  EXPECT_FALSE(t.advises("close to its memory limit"));
}

TEST(Advice, on_memory_that_grows_steadily) {
  TestRun t;
  Points growing;
  for (int s = 0; s <= 60; ++s) growing.emplace_back(s, 100e6 + 2e6 * s);
  t.add(describe(MetricId::memory_bytes, Scope::app, "test"), growing);
  EXPECT_EQ(
      evidence_of(t, "grows steadily"),
      "From 126 MB to 216 MB within 48 s, about 120 MB a minute. At this pace the device is full "
      "in 1 h 4 min.");
  TestRun loading;
  Points settles;
  for (int s = 0; s <= 60; ++s) settles.emplace_back(s, s < 10 ? 20e6 * s : 200e6);
  loading.add(describe(MetricId::memory_bytes, Scope::app, "test"), settles);
  EXPECT_FALSE(loading.advises("grows steadily"));
}

TEST(Advice, on_swap) {
  TestRun t;
  t.steady(MetricId::memory_swap_bytes, 50e6);
  EXPECT_EQ(evidence_of(t, "swap"), "Up to 50 MB were in swap.");
  TestRun hardly;
  hardly.steady(MetricId::memory_swap_bytes, 4096);
  EXPECT_FALSE(hardly.advises("swap"));
}

TEST(Advice, on_one_busy_thread_while_a_goal_is_missed) {
  TestRun t = misses_goal();
  t.steady(MetricId::cpu_usage_seconds_total, 1);
  EXPECT_TRUE(t.advises("one core busy"));
  t.run.target.limits.cpus = 1;
  EXPECT_FALSE(t.advises("one core busy"));
  t.run.target.limits.cpus.reset();
  t.device.cores = 1;
  EXPECT_FALSE(t.advises("one core busy"));
  t.device.cores = 4;
  t.run.target.goals.clear();
  EXPECT_FALSE(t.advises("one core busy"));
  TestRun parallel = misses_goal();
  parallel.steady(MetricId::cpu_usage_seconds_total, 2.5);
  EXPECT_FALSE(parallel.advises("one core busy"));
}

TEST(Advice, on_waiting_for_the_disk) {
  TestRun pressed;
  pressed.steady(MetricId::pressure_io_waiting_seconds_total, 0.3);
  EXPECT_EQ(evidence_of(pressed, "waits for the disk"),
            "Some of it waited for a disk 30 % of the time.");
  TestRun faulting;
  faulting.steady(MetricId::major_page_faults_total, 200);
  EXPECT_TRUE(faulting.advises("waits for the disk"));
  faulting.run.ended = at(1);
  EXPECT_FALSE(faulting.advises("waits for the disk"))
      << "a program is read from disk as it starts";
  EXPECT_FALSE(healthy_run().advises("waits for the disk"));
}

TEST(Advice, on_other_programs_that_take_the_cpu) {
  const auto contended = [](double mine, double all, double waiting) {
    TestRun t;
    t.steady(MetricId::cpu_usage_seconds_total, mine);
    t.steady(MetricId::cpu_usage_seconds_total, all, Scope::node);
    t.steady(MetricId::pressure_cpu_waiting_seconds_total, waiting);
    return t.advises("Other programs");
  };
  EXPECT_TRUE(contended(1.5, 3.9, 0.5));
  EXPECT_FALSE(contended(3.8, 3.9, 0.5)) << "the app itself fills the cores";
  EXPECT_FALSE(contended(1.5, 2.5, 0.5)) << "cores are free";
  EXPECT_FALSE(contended(1.5, 3.9, 0.05)) << "it does not wait";
}

TEST(Advice, on_other_programs_goes_by_the_time_that_its_threads_waited) {
  const auto evidence = [](double mine, double waiting) {
    TestRun t;
    t.steady(MetricId::cpu_usage_seconds_total, mine);
    t.steady(MetricId::cpu_usage_seconds_total, 3.9, Scope::node);
    t.steady(MetricId::pressure_cpu_waiting_seconds_total, 0.9, Scope::node);
    t.steady(MetricId::cpu_waiting_seconds_total, waiting);
    return t.advises("Other programs") ? evidence_of(t, "Other programs") : "";
  };
  EXPECT_EQ(evidence(0.1, 0.9),
            "Of 4 cores the app used 0.1 and others 3.8; it could have used 0.9 more.");
  EXPECT_EQ(evidence(0.01, 0.02), "") << "it sleeps";
  EXPECT_EQ(evidence(1, 0.1), "") << "it gets nearly all that it asks for";
}

TEST(Advice, on_other_programs_promises_no_more_than_its_limit_allows) {
  TestRun t;
  t.run.target.limits.cpus = 0.5;
  t.steady(MetricId::cpu_usage_seconds_total, 0.3);
  t.steady(MetricId::cpu_usage_seconds_total, 3.9, Scope::node);
  t.steady(MetricId::cpu_waiting_seconds_total, 0.9);
  EXPECT_EQ(evidence_of(t, "Other programs"),
            "Of 4 cores the app used 0.3 and others 3.6; it could have used 0.2 more.");
  TestRun full;
  full.run.target.limits.cpus = 0.5;
  full.steady(MetricId::cpu_usage_seconds_total, 0.49);
  full.steady(MetricId::cpu_throttled_seconds_total, 0.01);
  full.steady(MetricId::cpu_usage_seconds_total, 3.9, Scope::node);
  full.steady(MetricId::cpu_waiting_seconds_total, 0.9);
  EXPECT_FALSE(full.advises("Other programs")) << "its own limit keeps it from more";
  EXPECT_TRUE(full.advises("CPU limit"));
}

TEST(Advice, on_a_board_that_protects_itself) {
  TestRun t = healthy_run();
  t.run.board.throttling = {"under-voltage now", "throttled since boot", "core_throttle_count 12"};
  EXPECT_EQ(evidence_of(t, "protect itself"),
            "It reported: under-voltage now, throttled since boot.");
  t.run.board.throttling = {"core_throttle_count 12"};
  EXPECT_FALSE(t.advises("protect itself"));
}

TEST(Advice, on_a_governor_that_keeps_the_cpu_slow) {
  const auto slow = [](const std::string& governor, double hertz, double cores) {
    TestRun t;
    t.run.board.governor = governor;
    t.run.board.max_frequency_hertz = 1.8e9;
    t.steady(MetricId::cpu_usage_seconds_total, cores);
    t.steady(MetricId::cpu_frequency_hertz, hertz, Scope::node);
    return t.advises("powersave");
  };
  EXPECT_TRUE(slow("powersave", 0.6e9, 1));
  EXPECT_TRUE(slow("powersave+performance", 0.6e9, 1));
  EXPECT_FALSE(slow("powersave", 1.75e9, 1)) << "it speeds up under load";
  EXPECT_FALSE(slow("powersave", 0.6e9, 0.1)) << "an idle CPU may be slow";
  EXPECT_FALSE(slow("ondemand", 0.6e9, 1));
  TestRun one_fast;
  one_fast.run.board.governor = "powersave";
  one_fast.run.board.max_frequency_hertz = 1.8e9;
  one_fast.steady(MetricId::cpu_usage_seconds_total, 1);
  for (const auto& [policy, hertz] : {std::pair("0", 1.8e9), std::pair("1", 0.6e9)}) {
    one_fast.add(describe(MetricId::cpu_frequency_hertz, Scope::node, "x", {{"policy", policy}}),
                 {{0, hertz}});
  }
  EXPECT_FALSE(one_fast.advises("powersave")) << "only the idle core is slow";
}

TEST(Advice, on_an_idle_app) {
  TestRun t;
  t.steady(MetricId::cpu_usage_seconds_total, 0.01);
  EXPECT_EQ(evidence_of(t, "idle nearly"), "It used 1 % of one core.");
  t.run.target.goals = {fps_goal()};
  EXPECT_TRUE(t.advises("idle nearly"));
  t.event("fps", {{1, 20}});
  EXPECT_FALSE(t.advises("idle nearly")) << "it reaches its goal all the same";
  t.run.target.goals.clear();
  t.run.ended = at(1);
  EXPECT_FALSE(t.advises("idle nearly")) << "too short to tell";
  TestRun busy;
  busy.steady(MetricId::cpu_usage_seconds_total, 0.05);
  EXPECT_FALSE(busy.advises("idle nearly"));
}

}  // namespace
}  // namespace assay::analysis
