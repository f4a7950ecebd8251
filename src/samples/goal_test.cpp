// SPDX-License-Identifier: Apache-2.0
#include <assay/samples/goal.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

struct Case {
  const char* text;
  const char* metric;
  const char* statistic;
  Comparison comparison;
  double bound;
};

class ParseGoal : public ::testing::TestWithParam<Case> {};

TEST_P(ParseGoal, gives_metric_statistic_and_bound) {
  const auto& expected = GetParam();
  const auto goal = parse_goal(expected.text);
  ASSERT_TRUE(goal) << goal.error().message;
  EXPECT_EQ(goal->metric, expected.metric);
  EXPECT_EQ(goal->statistic, expected.statistic);
  EXPECT_EQ(goal->comparison, expected.comparison);
  EXPECT_DOUBLE_EQ(goal->bound, expected.bound);
}

constexpr double kMiB = 1024.0 * 1024.0;

INSTANTIATE_TEST_SUITE_P(
    Forms, ParseGoal,
    testing::Values(
        Case{"fps >= 10", "fps", "mean", Comparison::greater_equal, 10},
        Case{"fps>10", "fps", "mean", Comparison::greater, 10},
        Case{"fps >= 10 fps", "fps", "mean", Comparison::greater_equal, 10},
        Case{"fps.min > 1e1", "fps", "min", Comparison::greater, 10},
        Case{"drift > -5.5", "drift", "mean", Comparison::greater, -5.5},
        Case{"latency.p95 <= 200ms", "latency", "p95", Comparison::less_equal, 0.2},
        Case{"latency.p50 < 1.5 s", "latency", "p50", Comparison::less, 1.5},
        Case{"latency.p99 < 250us", "latency", "p99", Comparison::less, 250e-6},
        Case{"model.stage.two.peak < 2min", "model.stage.two", "peak", Comparison::less, 120},
        Case{"memory_bytes.peak < 1GB", "memory_bytes", "peak", Comparison::less, 1e9},
        Case{"memory_bytes < 500m", "memory_bytes", "mean", Comparison::less, 500 * kMiB},
        Case{"memory_bytes < 4096 bytes", "memory_bytes", "mean", Comparison::less, 4096},
        Case{"gpu_memory_bytes < 2g", "gpu_memory_bytes", "mean", Comparison::less, 2048 * kMiB},
        Case{"disk_read_bytes_per_second < 5MB/s", "disk_read_bytes_per_second", "mean",
             Comparison::less, 5e6},
        Case{"gpu_utilization_ratio >= 80%", "gpu_utilization_ratio", "mean",
             Comparison::greater_equal, 0.8},
        Case{"power_watts < 5 W", "power_watts", "mean", Comparison::less, 5},
        Case{"cpu_cores <= 1.5 cores", "cpu_cores", "mean", Comparison::less_equal, 1.5},
        Case{"fps >= 10/s", "fps", "mean", Comparison::greater_equal, 10},
        Case{"frame_rate >= 10 Hz", "frame_rate", "mean", Comparison::greater_equal, 10},
        Case{"memory < 1GB", "memory", "mean", Comparison::less, 1e9},
        Case{"cpu < 1.5 cores", "cpu", "mean", Comparison::less, 1.5},
        Case{"queue < 10kB", "queue", "mean", Comparison::less, 10000}));

TEST(Goal, keeps_what_was_written) {
  EXPECT_EQ(parse_goal(" fps >=10 ").value().text, "fps >=10");
}

TEST(Goal, says_what_is_wrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"fps", "goal 'fps' compares nothing; use <, <=, > or >=, as in \"fps >= 10\""},
      {"fps == 10", "goal 'fps == 10' compares nothing; use <, <=, > or >=, as in \"fps >= 10\""},
      {">= 10", "goal '>= 10' does not begin with a metric; write for example \"fps >= 10\""},
      {"my fps > 1",
       "goal 'my fps > 1' does not begin with a metric; write for example \"fps >= 10\""},
      {"latency.men < 1s",
       "unknown statistic 'men' in goal 'latency.men < 1s'; did you mean 'mean'?"},
      {"latency.max < 1s",
       "unknown statistic 'max' in goal 'latency.max < 1s'; did you mean 'peak'?"},
      {"a.something < 1",
       "unknown statistic 'something' in goal 'a.something < 1'; choose of: mean, p50, p95, p99, "
       "peak, min"},
      {"stage <= 3 m",
       "'3 m' in goal 'stage <= 3 m' may be minutes or metres; write 180s for the one, the plain "
       "number for the other"},
      {"fps > ", "'' in goal 'fps >' is not a value; write for example 10, 200ms, 512MB or 80%"},
      {"fps > 5 parsecs",
       "'5 parsecs' in goal 'fps > 5 parsecs' is not a value; write for example 10, 200ms, 512MB "
       "or 80%"},
      {"memory_bytes < 200ms",
       "goal 'memory_bytes < 200ms' compares bytes with seconds; give memory_bytes in bytes"},
      {"cpu_cores < 1GB",
       "goal 'cpu_cores < 1GB' compares cores with bytes; give cpu_cores in cores, 0.8 being 80 % "
       "of one core"},
      {"cpu < 80%",
       "goal 'cpu < 80%' compares cores with ratio; give cpu in cores, 0.8 being 80 % of one core"},
      {"latency.p95 <= 200 mb",
       "goal 'latency.p95 <= 200 mb' compares seconds with bytes; give latency in seconds"},
      {"fps >= 10ms",
       "goal 'fps >= 10ms' compares per second with seconds; give fps as a number per second"},
      {"fps => 10", "goal 'fps => 10' has the signs of >= swapped; write >="},
      {"latency.p90 < 1s",
       "unknown statistic 'p90' in goal 'latency.p90 < 1s'; choose of: mean, p50, p95, p99, peak, "
       "min"},
  };
  for (const auto& [text, message] : cases) {
    const auto goal = parse_goal(text);
    ASSERT_FALSE(goal) << text;
    EXPECT_EQ(goal.error().message, message);
    EXPECT_EQ(goal.error().kind, ErrorKind::input);
  }
}

TEST(Goal, refuses_what_only_looks_like_a_number) {
  for (const auto* text : {"fps > nan", "fps > inf", "fps > 1.2.3", "fps > 5 e5", "fps > 1e999",
                           "fps > 0x10", "fps > 1 2", "fps > <1", "a. > 1", ". > 1"}) {
    EXPECT_FALSE(parse_goal(text)) << text;
  }
}

}  // namespace
}  // namespace assay
