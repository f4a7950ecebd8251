// SPDX-License-Identifier: Apache-2.0
#include "calls.h"

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

using std::chrono::seconds;

template <class T>
std::string error_of(const Result<T>& result) {
  return result ? "" : result.error().message;
}

TEST(GoalsCall, has_goals_as_people_write_them) {
  const auto call =
      parse_goals_call(R"({"app": "cam", "goals": ["fps >= 10", "latency.p95 <= 200ms"]})");
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->app, "cam");
  ASSERT_EQ(call->goals.size(), 2U);
  EXPECT_EQ(call->goals[1].statistic, "p95");
  EXPECT_TRUE(parse_goals_call(R"({"app": "cam", "goals": []})"));
}

TEST(GoalsCall, says_what_is_wrong) {
  EXPECT_EQ(error_of(parse_goals_call("fps >= 10")),
            "the body is no JSON object; write for example {\"app\": \"NAME\", ...}");
  EXPECT_EQ(error_of(parse_goals_call(R"({"goals": []})")),
            "app: say which one, by its path, container id or name");
  EXPECT_EQ(error_of(parse_goals_call(R"({"app": "a", "goal": []})")),
            "unknown key 'goal'; did you mean 'goals'?");
  EXPECT_EQ(error_of(parse_goals_call(R"({"app": "a", "goals": "fps >= 10"})")),
            "goals: must be a list; write for example [\"fps >= 10\"], or [] for none");
  EXPECT_EQ(error_of(parse_goals_call(R"({"app": "a", "goals": [10]})")),
            "goals: each is text; write for example \"fps >= 10\"");
  EXPECT_NE(error_of(parse_goals_call(R"({"app": "a", "goals": ["fast"]})")), "");
}

TEST(LimitsCall, has_cores_and_memory) {
  const auto both = parse_limits_call(R"({"app": "a", "cores": 1.5, "memory": "512MB"})");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->change, (LimitChange{1.5, 512'000'000}));
  const auto one = parse_limits_call(R"({"app": "a", "memory": 1048576})");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->change, (LimitChange{std::nullopt, 1U << 20U}));
}

TEST(LimitsCall, says_what_is_wrong) {
  EXPECT_EQ(error_of(parse_limits_call(R"({"app": "a"})")),
            "nothing to change; give cores, memory or both");
  EXPECT_EQ(error_of(parse_limits_call(R"({"app": "a", "cores": 0})")),
            "cores: must be a number above 0 and at most 4096");
  EXPECT_NE(error_of(parse_limits_call(R"({"app": "a", "cores": "2"})")), "");
  EXPECT_EQ(error_of(parse_limits_call(R"({"app": "a", "memory": "much"})")),
            "memory: 'much' is not a size; write for example 512MB or 2GiB");
  EXPECT_EQ(error_of(parse_limits_call(R"({"app": "a", "memory": []})")),
            "memory: must be a number or text");
}

TEST(IntervalCall, is_bounded) {
  const auto call = parse_interval_call(R"({"app": "a", "interval": "100ms", "for": 30})");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->interval, Milliseconds(100));
  EXPECT_EQ(call->length, seconds(30));
  EXPECT_EQ(parse_interval_call(R"({"app": "a", "interval": "1s"})")->length, seconds(60));
  EXPECT_EQ(error_of(parse_interval_call(R"({"app": "a", "interval": "1ms"})")),
            "interval: 1 ms is out of range; choose 100 ms to 1 min 0 s");
  EXPECT_EQ(error_of(parse_interval_call(R"({"app": "a", "interval": "1s", "for": "2h"})")),
            "for: 2 h 0 min is out of range; choose 100 ms to 1 h 0 min");
  EXPECT_EQ(error_of(parse_interval_call(R"({"app": "a"})")), "interval: must be a number or text");
}

TEST(CaptureCall, is_bounded) {
  const auto call =
      parse_capture_call(R"({"app": "a", "kind": "stacks", "for": "5s", "frequency": 49})");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->request.kind, CaptureRequest::Kind::stacks);
  EXPECT_EQ(call->request.length, seconds(5));
  EXPECT_EQ(call->request.frequency_hz, 49);
  EXPECT_EQ(error_of(parse_capture_call(R"({"app": "a"})")),
            "kind: must be \"stacks\" or \"gpu_kernels\"");
  EXPECT_NE(error_of(parse_capture_call(R"({"app": "a", "kind": "stacks", "for": "1h"})")), "");
  EXPECT_NE(error_of(parse_capture_call(R"({"app": "a", "kind": "stacks", "frequency": 1e9})")),
            "");
}

}  // namespace
}  // namespace assay::agent
