// SPDX-License-Identifier: Apache-2.0
#include "goals.h"

#include "test_run.h"

#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

TestRun run_with(std::vector<Goal> goals) {
  TestRun t;
  t.run.target.goals = std::move(goals);
  t.steady(MetricId::cpu_usage_seconds_total, 2);
  t.steady(MetricId::memory_bytes, 500e6);
  t.event("fps", {{1, 8}, {2, 12}});
  t.event("latency", {{1, 0.1}, {2, 0.3}});
  return t;
}

TEST(Metrics, are_merged_over_processes_and_sorted_by_name) {
  TestRun t;
  t.add(event_info("fps", "reported by pid 9"), {{1, 10}, {2, 20}});
  t.add(event_info("accuracy", "reported by pid 7"), {{1, 0.5}});
  t.add(event_info("fps", "reported by pid 8"), {{1, 60}});
  const auto metrics = t.analyze().metrics;
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(metrics[0].first, "accuracy");
  EXPECT_EQ(metrics[0].second.source, "reported by pid 7");
  EXPECT_EQ(metrics[1].first, "fps");
  EXPECT_DOUBLE_EQ(metrics[1].second.mean, 30);
  EXPECT_EQ(metrics[1].second.count, 3U);
  EXPECT_EQ(metrics[1].second.source, "reported by 2 processes");
}

TEST(Metrics, count_after_the_warm_up_even_when_they_arrive_at_the_very_end) {
  TestRun t;
  t.run.target.warmup = std::chrono::seconds(5);
  t.event("fps", {{1, 1}, {5, 10}, {60.01, 20}});
  EXPECT_DOUBLE_EQ(find(t.analyze().metrics, "fps")->mean, 15);
}

TEST(Metrics, of_a_counter_are_all_that_was_added) {
  TestRun t;
  SeriesInfo animals = event_info("animals");
  animals.labels = {{"kind", "counter"}};
  t.add(animals, {{1, 5}, {20, 8}, {30, 2}});
  animals.source = "reported by pid 8";
  t.add(animals, {{2, 1}, {50, 4}});
  EXPECT_DOUBLE_EQ(find(t.analyze().metrics, "animals")->mean, 14);
  EXPECT_DOUBLE_EQ(find(t.analyze().metrics, "animals")->peak, 14);
  EXPECT_EQ(find(t.analyze().metrics, "animals")->unit, "in all");
  t.run.target.warmup = std::chrono::seconds(10);
  EXPECT_DOUBLE_EQ(find(t.analyze().metrics, "animals")->mean, 8);
}

TEST(Goals, know_their_unit_also_by_a_short_name) {
  const auto goals =
      run_with({make_goal("memory", "peak", Comparison::less, 1e9, "memory.peak < 1GB"),
                make_goal("duration", "mean", Comparison::less, 90, "duration < 90"),
                make_goal("latency", "mean", Comparison::less, 1, "latency < 1s"),
                make_goal("fps", "mean", Comparison::greater, 1, "fps > 1")})
          .analyze()
          .goals;
  EXPECT_EQ(goals[0].unit, "bytes");
  EXPECT_EQ(goals[1].unit, "seconds");
  EXPECT_EQ(goals[2].unit, "seconds");
  EXPECT_EQ(goals[3].unit, "");
}

TEST(Goals, in_another_unit_than_their_metric_are_not_met) {
  TestRun t;
  t.run.target.goals = {
      make_goal("infer", "mean", Comparison::less_equal, 200e6, "infer <= 200MB")};
  SeriesInfo infer = event_info("infer");
  infer.unit = "seconds";
  t.add(infer, {{1, 0.1}});
  EXPECT_FALSE(t.analyze().goals[0].met);
  EXPECT_TRUE(t.advises("infer is not measured in the unit of"));
  t.run.target.goals[0].text = "infer <= 200ms";
  t.run.target.goals[0].bound = 0.2;
  EXPECT_TRUE(t.analyze().goals[0].met);
}

TEST(Goals, whose_unit_was_taken_for_another_are_told_how_it_was_read) {
  TestRun t;
  t.run.target.goals = {
      make_goal("distance", "mean", Comparison::less_equal, 300, "distance <= 5m")};
  SeriesInfo distance = event_info("distance");
  distance.unit = "m";
  t.add(distance, {{1, 4.5}});
  const auto advice = t.analyze().advice;
  ASSERT_FALSE(advice.empty());
  EXPECT_EQ(advice.front().evidence, "It is 4.5 in m; the goal's bound was read as 5 min 0 s.");
  EXPECT_EQ(advice.front().action, "Write the goal's bound as a plain number, without a unit.");
}

TEST(Metrics, take_their_unit_from_how_a_goal_is_written) {
  const auto t =
      run_with({make_goal("latency", "p95", Comparison::less_equal, 0.2, "latency.p95 <= 200ms")});
  EXPECT_EQ(find(t.analyze().metrics, "latency")->unit, "seconds");
  EXPECT_EQ(find(t.analyze().metrics, "fps")->unit, "");
}

TEST(Goals, compare_the_asked_statistic_with_the_bound) {
  const auto goals =
      run_with({make_goal("fps", "mean", Comparison::greater_equal, 10, "fps >= 10"),
                make_goal("fps", "mean", Comparison::greater, 10, "fps > 10"),
                make_goal("latency", "p95", Comparison::less_equal, 0.2, "latency.p95 <= 200ms"),
                make_goal("latency", "p50", Comparison::less, 0.2, "latency.p50 < 200ms")})
          .analyze()
          .goals;
  ASSERT_EQ(goals.size(), 4U);
  EXPECT_EQ(goals[0].value, 10);
  EXPECT_TRUE(goals[0].met);
  EXPECT_FALSE(goals[1].met);
  EXPECT_EQ(goals[2].value, 0.3);
  EXPECT_FALSE(goals[2].met);
  EXPECT_TRUE(goals[3].met);
}

TEST(Goals, may_be_about_the_footprint_by_full_or_short_name) {
  const auto goals =
      run_with({make_goal("cpu_cores", "mean", Comparison::less, 3, "cpu_cores < 3"),
                make_goal("memory_bytes", "peak", Comparison::less, 1e9, "memory_bytes.peak < 1GB"),
                make_goal("memory", "peak", Comparison::less, 1e8, "memory.peak < 100MB"),
                make_goal("cores", "p95", Comparison::less, 3, "cores.p95 < 3"),
                make_goal("duration", "mean", Comparison::less, 61, "duration < 61s")})
          .analyze()
          .goals;
  EXPECT_DOUBLE_EQ(goals[0].value.value(), 2);
  EXPECT_EQ(goals[1].value, 500e6);
  EXPECT_TRUE(goals[1].met);
  EXPECT_FALSE(goals[2].met);
  EXPECT_TRUE(goals[3].met);
  EXPECT_DOUBLE_EQ(goals[4].value.value(), 60);
}

TEST(Goals, are_missed_when_their_metric_was_never_reported) {
  const auto goals =
      run_with({make_goal("depth", "mean", Comparison::less, 1, "depth < 1")}).analyze().goals;
  EXPECT_FALSE(goals[0].value);
  EXPECT_FALSE(goals[0].met);
}

TEST(Goals, are_missed_when_the_statistic_is_unknown) {
  const auto goals =
      run_with({make_goal("fps", "p42", Comparison::greater, 1, "fps.p42 > 1")}).analyze().goals;
  EXPECT_FALSE(goals[0].value);
  EXPECT_FALSE(goals[0].met);
}

}  // namespace
}  // namespace assay::analysis
