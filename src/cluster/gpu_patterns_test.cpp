// SPDX-License-Identifier: Apache-2.0
#include "gpu_patterns.h"

#include "testing/prometheus_stand_in.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using testing::Prometheus;

constexpr int64_t kNow = 1'700'000'000;

/// Two hours at 15 s of something that repeats every ten minutes, as Prometheus tells it.
std::string matrix_of(const std::vector<std::string>& labels) {
  std::string values;
  for (int64_t time = kNow - 7200; time <= kNow; time += 15)
    values +=
        fmt::format(R"({}[{}, "{:.3f}"])", values.empty() ? "" : ",", time,
                    50 + 40 * std::sin(2 * std::numbers::pi * static_cast<double>(time) / 600));
  std::string result;
  for (const auto& one : labels)
    result += fmt::format(R"({}{{"metric": {}, "values": [{}]}})", result.empty() ? "" : ",", one,
                          values);
  return R"({"status": "success", "data": {"resultType": "matrix", "result": [)" + result + "]}}";
}

struct Looking {
  explicit Looking(const std::string& answer, std::set<std::string> names = {kGpuUtilization})
      : server({{"query_range", answer}}), queries(server.access()) {
    sources.names = std::move(names);
    seen.nodes = {{.object = {kubeapi::nodes(), "", "n1", "node-1"}}};
  }
  void add(const std::string& index, const std::string& uuid, const std::string& part = "") {
    reading.gpus.push_back(
        {.node = "n1", .index = index, .uuid = uuid, .part = part, .utilization = 50});
  }
  Result<void> look(GpuPatterns& patterns) {
    tracker.update(seen, reading, now);
    return patterns.look(
        queries, sources, tracker, now, [this] { return more; }, nullptr);
  }
  const std::optional<Pattern>& of(const std::string& index) {
    return tracker.nodes().at("n1").gpus.at(index).pattern;
  }
  /// How many questions were about a GPU's last hours.
  auto asked_for(const std::string& uuid) const {
    const auto asked = server.asked();
    return std::count_if(asked.begin(), asked.end(), [&](const std::string& query) {
      return query.find(uuid) != std::string::npos &&
             query.find("avg_over_time") == std::string::npos;
    });
  }

  Prometheus server;
  promapi::Queries queries;
  Sources sources;
  Seen seen;
  Reading reading;
  Tracker tracker{std::chrono::seconds(30)};
  Timestamp now = Timestamp(std::chrono::seconds(kNow));
  bool more = true;
};

const GpuPatterns::Times kAtOnce{.patterns = std::chrono::seconds(30),
                                 .days = std::chrono::hours(1)};

TEST(GpuPatterns, of_a_gpu_are_its_cycle_class_and_forecast) {
  Looking run(matrix_of({R"({"UUID": "GPU-a"})"}));
  run.add("0", "GPU-a");
  run.add("1", "GPU-b");
  GpuPatterns patterns(std::chrono::seconds(30), kAtOnce);
  ASSERT_TRUE(run.look(patterns));
  ASSERT_TRUE(run.of("0"));
  EXPECT_NEAR(run.of("0")->period_seconds.value_or(0), 600, 15);
  EXPECT_EQ(run.of("0")->use, analysis::UseClass::bursty);
  EXPECT_TRUE(run.of("0")->hour);
  EXPECT_FALSE(run.of("1")) << "of which nothing is told";
}

TEST(GpuPatterns, what_days_tell_outlives_the_next_look_at_the_hours) {
  Looking run(matrix_of({R"({"UUID": "GPU-a"})"}));
  run.add("0", "GPU-a");
  GpuPatterns patterns(std::chrono::seconds(30), kAtOnce);
  ASSERT_TRUE(run.look(patterns));
  run.tracker.nodes().at("n1").gpus.at("0").pattern->days.period_seconds = 86400;
  run.now += std::chrono::seconds(30);
  int asked = 0;
  run.tracker.update(run.seen, run.reading, run.now);
  ASSERT_TRUE(patterns.look(
      run.queries, run.sources, run.tracker, run.now, [&] { return ++asked == 1; }, nullptr));
  EXPECT_EQ(run.of("0")->days.period_seconds, 86400);
}

TEST(GpuPatterns, of_parts_of_a_gpu_are_their_own) {
  Looking run(matrix_of({R"({"UUID": "GPU-a"})", R"({"UUID": "GPU-b", "GPU_I_ID": "7"})"}),
              {kGpuUtilization, kGpuEngine});
  run.add("0", "GPU-a");
  run.add("1.7", "GPU-b", "7");
  run.add("1.8", "GPU-b", "8");
  GpuPatterns patterns(std::chrono::seconds(30), kAtOnce);
  ASSERT_TRUE(run.look(patterns));
  EXPECT_TRUE(run.of("0"));
  ASSERT_TRUE(run.of("1.7"));
  EXPECT_NEAR(run.of("1.7")->period_seconds.value_or(0), 600, 15);
  EXPECT_FALSE(run.of("1.8"));
}

TEST(GpuPatterns, are_found_where_only_engines_are_told) {
  Looking run(matrix_of({R"({"UUID": "GPU-a"})"}), {kGpuEngine});
  run.add("0", "GPU-a");
  GpuPatterns patterns(std::chrono::seconds(30), kAtOnce);
  ASSERT_TRUE(run.look(patterns));
  EXPECT_TRUE(run.of("0"));
  EXPECT_NE(run.server.asked().at(0).find("100 * DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID"),
            std::string::npos);
  EXPECT_NE(run.server.asked().at(1).find("100 * avg_over_time(DCGM_FI_PROF"), std::string::npos);
}

TEST(GpuPatterns, without_gpus_nothing_is_asked) {
  Looking run(matrix_of({}), {});
  run.add("0", "GPU-a");
  GpuPatterns patterns(std::chrono::seconds(30), kAtOnce);
  ASSERT_TRUE(run.look(patterns));
  EXPECT_TRUE(run.server.asked().empty());
}

TEST(GpuPatterns, all_gpus_have_their_turn) {
  Looking run(matrix_of({}));
  for (int i = 0; i < 6; ++i) run.add(std::to_string(i), fmt::format("GPU-{}", i));
  GpuPatterns patterns(std::chrono::seconds(30),
                       {.patterns = std::chrono::seconds(90), .days = std::chrono::hours(1000)});
  ASSERT_TRUE(run.look(patterns));
  const auto first = run.server.asked().at(0);
  EXPECT_NE(first.find("GPU-0|GPU-1\""), std::string::npos) << first;
  run.more = false;
  ASSERT_TRUE(run.look(patterns));
  run.more = true;
  for (int round = 0; round < 2; ++round) ASSERT_TRUE(run.look(patterns));
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(run.asked_for(fmt::format("GPU-{}", i)), 1) << "and what was not reached is next";
}

TEST(GpuPatterns, names_that_are_no_words_are_left_out) {
  Looking run(matrix_of({}));
  run.add("0", "GPU-.*");
  run.add("1", "");
  GpuPatterns patterns(std::chrono::seconds(30), kAtOnce);
  ASSERT_TRUE(run.look(patterns));
  EXPECT_TRUE(run.server.asked().empty());
}

TEST(GpuPatterns, what_was_found_stays_when_prometheus_answers_nonsense) {
  Looking run("<html>");
  run.add("0", "GPU-a");
  run.tracker.update(run.seen, run.reading, run.now);
  run.tracker.nodes().at("n1").gpus.at("0").pattern = Pattern{.use = analysis::UseClass::steady};
  GpuPatterns patterns(std::chrono::seconds(30), kAtOnce);
  run.now += std::chrono::seconds(30);
  EXPECT_FALSE(run.look(patterns));
  ASSERT_TRUE(run.of("0"));
  EXPECT_EQ(run.of("0")->use, analysis::UseClass::steady);
}

}  // namespace
}  // namespace assay::cluster
