// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/agent_series.h"

#include <fmt/format.h>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

const std::string kContainer(64, 'a');
constexpr int64_t kTheirs = 1'700'000'090'000'000'000;  ///< 90 s ahead of us
constexpr int64_t kOurs = 1'700'000'000'000'000'000;

std::string answer(const std::string& apps) {
  return fmt::format(R"({{"schema": 1, "unix_ns": {}, "apps": [{}]}})", kTheirs, apps);
}

/// Read `ms` after its start, a second before the answer.
std::string app(int64_t ms, double cpu, const std::string& more = "") {
  return fmt::format(
      R"({{"container_id": "{}", "running": true, "started_unix_ns": {}, "read_unix_ns": {},
          "totals": {{"cpu_usage_seconds_total": {}, "memory_bytes": 4096, "what": 1}}{}}})",
      kContainer, kTheirs, kTheirs + ms * 1'000'000, cpu, more);
}

AgentApp read(const std::string& text) {
  const auto read = read_agent_answer(answer(text), kContainer);
  EXPECT_TRUE(read) << read.error().message;
  return read->app.value();
}

ClockOffset ahead_by_90_s() {
  ClockOffset clock;
  clock.add(from_unix_ns(kOurs), from_unix_ns(kOurs), from_unix_ns(kTheirs));
  return clock;
}

TEST(AgentAnswer, of_other_apps_tells_only_the_time) {
  const auto read =
      read_agent_answer(answer(R"({"container_id": "b", "running": true}, 7)"), kContainer);
  ASSERT_TRUE(read);
  EXPECT_EQ(unix_ns(read->time), kTheirs);
  EXPECT_FALSE(read->app);
}

TEST(AgentAnswer, of_an_older_agent_says_so) {
  const auto no_time = read_agent_answer(R"({"schema": 1, "apps": []})", kContainer);
  ASSERT_FALSE(no_time);
  EXPECT_NE(no_time.error().message.find("update the agent"), std::string::npos);
  const auto no_totals =
      read_agent_answer(answer(fmt::format(R"({{"container_id": "{}"}})", kContainer)), kContainer);
  ASSERT_FALSE(no_totals);
  EXPECT_NE(no_totals.error().message.find("update the agent"), std::string::npos);
}

TEST(AgentAnswer, that_is_none_is_an_error) {
  for (const char* text : {"", "[]", "{", R"({"apps": 7})", "not found"})
    EXPECT_FALSE(read_agent_answer(text, kContainer)) << text;
}

TEST(AgentSeries, are_on_our_clock_from_the_apps_start) {
  AgentSeries series("agent on n1");
  MemorySeries kept;
  series.push(read(app(500, 0.25)), ahead_by_90_s(), kept);
  series.push(read(app(500, 0.25)), ahead_by_90_s(), kept);
  series.push(read(app(1500, 1.25)), ahead_by_90_s(), kept);
  const Series* cpu = kept.find("cpu_usage_seconds_total");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->info.source, "agent on n1 (cgroup)");
  EXPECT_EQ(cpu->values, (std::vector<double>{0, 0.25, 1.25}));
  EXPECT_EQ(cpu->times,
            (std::vector<Timestamp>{from_unix_ns(kOurs), from_unix_ns(kOurs + 500'000'000),
                                    from_unix_ns(kOurs + 1'500'000'000)}));
  const Series* memory = kept.find("memory_bytes");
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(memory->values, (std::vector<double>{4096, 4096}));
  EXPECT_EQ(kept.list().size(), 2) << "what our catalogue does not have is no series";
}

TEST(AgentSeries, never_go_back_when_the_offset_is_learned_better) {
  AgentSeries series("agent on n1");
  MemorySeries kept;
  ClockOffset clock;
  clock.add(from_unix_ns(kOurs), from_unix_ns(kOurs + 400'000'000), from_unix_ns(kTheirs));
  series.push(read(app(1000, 1)), clock, kept);
  clock.add(from_unix_ns(kOurs), from_unix_ns(kOurs), from_unix_ns(kTheirs + 300'000'000));
  series.push(read(app(1100, 2)), clock, kept);
  series.push(read(app(2000, 3)), clock, kept);
  EXPECT_EQ(kept.find("cpu_usage_seconds_total")->values, (std::vector<double>{0, 1, 3}));
}

TEST(AgentSeries, have_what_the_app_reports) {
  AgentSeries series("agent on n1");
  MemorySeries kept;
  const auto reported = [](int64_t ms, double fps, const std::string& durations) {
    const auto time = kTheirs + ms * 1'000'000;
    return app(ms, 1,
               fmt::format(R"(, "reported": {{
      "fps": {{"kind": "number", "value": {}, "unix_ns": {}}},
      "frames": {{"kind": "counter", "unit": "frames", "value": 7, "unix_ns": {}}},
      "step": {{"kind": "timer", "unit": "seconds", "unix_ns": {}, "durations": {}}},
      "nonsense": {{"kind": "number", "value": null}}}})",
                           fps, time, time, time, durations));
  };
  series.push(read(reported(1000, 10, "[[0.1, 2]]")), ahead_by_90_s(), kept);
  series.push(read(reported(1000, 10, "[[0.1, 2]]")), ahead_by_90_s(), kept);
  series.push(read(reported(2000, 12, "[[0.1, 3], [0.5, 1]]")), ahead_by_90_s(), kept);
  EXPECT_EQ(kept.find("fps")->values, (std::vector<double>{10, 12}));
  EXPECT_EQ(kept.find("fps")->info.source, "reported to the agent on n1");
  EXPECT_EQ(kept.find("fps")->times.back(), from_unix_ns(kOurs + 2'000'000'000));
  EXPECT_EQ(kept.find("frames")->info.labels, (Labels{{"kind", "counter"}}));
  EXPECT_EQ(kept.find("step")->values, (std::vector<double>{0.1, 0.1, 0.1, 0.5}));
  EXPECT_EQ(kept.find("step")->info.unit, "seconds");
  EXPECT_EQ(kept.find("nonsense"), nullptr);
  // An agent that was started again counts from nothing.
  series.push(read(reported(3000, 12, "[[0.1, 2]]")), ahead_by_90_s(), kept);
  EXPECT_EQ(kept.find("step")->values, (std::vector<double>{0.1, 0.1, 0.1, 0.5, 0.1, 0.1}));
}

TEST(AgentSeries, keep_so_many_durations_and_count_the_rest) {
  AgentSeries series("agent on n1");
  MemorySeries kept;
  series.push(read(app(1000, 1,
                       fmt::format(R"(, "reported": {{"step": {{"kind": "timer", "unix_ns": {},
                                      "durations": [[0.1, 9000], [0.2, 4000]]}}}})",
                                   kTheirs))),
              ahead_by_90_s(), kept);
  EXPECT_EQ(kept.find("step")->values.size(), 10'000);
  ASSERT_EQ(kept.losses().size(), 1);
  EXPECT_EQ(kept.losses()[0].count, 3000);
}

}  // namespace
}  // namespace assay::launch
