// SPDX-License-Identifier: Apache-2.0
#include "trial_metrics.h"

#include "testing/http_server.h"

#include <fmt/format.h>
#include <map>

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using Answers = std::map<std::string, std::string>;

/// A stand-in for a Prometheus: the last entry, in the order of their words, whose words are in a
/// query answers it.
class FakePrometheus {
 public:
  explicit FakePrometheus(Answers values) : values_(std::move(values)) {
    http_ = net::testing::HttpServer::on_loopback([this](net::testing::Connection& connection) {
      for (auto request = connection.read_request(); !request.empty();
           request = connection.read_request())
        connection.write(answer(request));
    });
  }
  std::string url() const { return http_->base(); }

 private:
  std::string answer(const std::string& request) const {
    std::string result;
    for (const auto& [words, values] : values_)
      if (request.find(words) != request.npos)
        result = R"({"metric": {}, "values": )" + values + "}";
    const std::string body = fmt::format(
        R"({{"status": "success", "data": {{"resultType": "matrix", "result": [{}]}}}})", result);
    return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
  }

  Answers values_;
  std::unique_ptr<net::testing::HttpServer> http_;
};

constexpr const char* kTens =
    R"([[100, "8"], [105, "12"], [110, "10"], [115, "NaN"], [120, "10"]])";

Result<TrialResult> ask(const FakePrometheus& prometheus, TrialSettings settings) {
  settings.copy.name_space = "lab";
  promapi::Queries queries({.url = prometheus.url()});
  net::Stopper stopper;
  TrialResult result{.choice = {"A100", 2},
                     .pods = {"a.b", "c"},
                     .begin = from_unix_ns(100'000'000'000),
                     .end_time = from_unix_ns(160'000'000'000)};
  ASSAY_CHECK(ask_prometheus(queries, settings, result, stopper));
  return result;
}

TEST(TrialMetrics, AGaugeIsTakenAsItIs) {
  const FakePrometheus prometheus(Answers{{"sum%28assay_app_fps%7B", kTens}});
  const auto result = ask(prometheus, {.measure = {.metric = "fps"}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_DOUBLE_EQ(result->throughput.value, 10);
  EXPECT_GT(result->throughput.sd, 0.05);
  EXPECT_EQ(result->source, "assay_app_fps");
  EXPECT_FALSE(result->utilization);
  EXPECT_FALSE(result->watts);
  EXPECT_FALSE(result->memory_bytes);
}

TEST(TrialMetrics, ACounterIsTakenByItsRate) {
  const FakePrometheus prometheus(Answers{{"rate%28assay_app_frames_total%7B", kTens}});
  const auto result = ask(prometheus, {.measure = {.metric = "frames"}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_DOUBLE_EQ(result->throughput.value, 10);
}

TEST(TrialMetrics, BusyGpusStandInForThroughputAlsoUnderTheExportersLabels) {
  const FakePrometheus prometheus(
      Answers{{"sum%28DCGM_FI_DEV_GPU_UTIL%7Bexported_namespace", kTens},
              {"avg%28DCGM_FI_DEV_GPU_UTIL%7Bexported_namespace", R"([[100, "0.5"]])"},
              {"DCGM_FI_DEV_FB_USED%7Bexported_namespace", R"([[100, "2"], [105, "4"]])"},
              {"DCGM_FI_DEV_POWER_USAGE%7Bexported_namespace", R"([[100, "200"], [105, "220"]])"}});
  const auto result = ask(prometheus, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_DOUBLE_EQ(result->throughput.value, 10);
  EXPECT_DOUBLE_EQ(result->utilization.value(), 0.5);
  EXPECT_DOUBLE_EQ(result->memory_bytes.value(), 4 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(result->watts.value(), 210);
}

TEST(TrialMetrics, WhatTheExporterWritesForNothingIsNotAskedFor) {
  // A comparison leaves out what is not within it.
  struct Metric {
    const char *name, *bound, *value;
  };
  Answers answers;
  for (const auto& [name, bound, value] :
       {Metric{"DCGM_FI_DEV_GPU_UTIL", "%20%3C%3D%20100%29", R"([[100, "50"]])"},
        Metric{"DCGM_FI_DEV_FB_USED", "%20%3C%201e8%29", R"([[100, "2"]])"},
        Metric{"DCGM_FI_DEV_POWER_USAGE", "%20%3C%201e6%29", R"([[100, "200"]])"}})
    for (const char* fold : {"sum", "avg"}) {
      const auto query = fmt::format("query={}%28{}%7B", fold, name);
      const auto pods = "namespace%3D%22lab%22%2Cpod%3D~%22a%5B.%5Db%7Cc%22%7D";
      answers[query] = R"([[100, "140737488355328"]])";
      answers[query + pods + bound] = value;
    }
  const FakePrometheus prometheus(answers);
  const auto result = ask(prometheus, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_DOUBLE_EQ(result->throughput.value, 50);
  EXPECT_DOUBLE_EQ(result->utilization.value(), 50);
  EXPECT_DOUBLE_EQ(result->memory_bytes.value(), 2 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(result->watts.value(), 200);
}

TEST(TrialMetrics, WithALogOnlyTheRestIsAsked) {
  const FakePrometheus prometheus(Answers{{"DCGM_FI_DEV_GPU_UTIL", kTens}});
  const auto result = ask(prometheus, {.measure = {.log_pattern = "(x)"}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->throughput.value, 0);
  EXPECT_TRUE(result->utilization);
}

TEST(TrialMetrics, CpusAreMeasuredByTheAgent) {
  TrialSettings settings{.measure = {.log_pattern = "(x)"}};
  settings.copy.resource = "cpu";
  const FakePrometheus prometheus(
      Answers{{"container_cpu_usage_seconds_total", R"([[100, "0.8"]])"},
              {"container_memory_working_set_bytes", R"([[100, "5000"]])"}});
  const auto result = ask(prometheus, settings);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_DOUBLE_EQ(result->utilization.value(), 0.8);
  EXPECT_DOUBLE_EQ(result->memory_bytes.value(), 5000);
}

TEST(TrialMetrics, OfAKubeletAndAnAgentThatTellOfTheSameOneCounts) {
  TrialSettings settings{.measure = {.log_pattern = "(x)"}};
  settings.copy.resource = "cpu";
  // Whoever adds the series of both gets twice as much.
  const FakePrometheus prometheus(
      Answers{{"query=sum%28rate%28container_cpu_usage_seconds_total", R"([[100, "1.6"]])"},
              {"query=max%28sum%20by%20%28job%2C%20metrics_path%29%20%28rate%28container_cpu",
               R"([[100, "0.8"]])"},
              {"query=max%28sum%20by%20%28job%2C%20metrics_path%29%20%28container_memory",
               R"([[100, "5000"]])"}});
  const auto result = ask(prometheus, settings);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_DOUBLE_EQ(result->utilization.value(), 0.8);
  EXPECT_DOUBLE_EQ(result->memory_bytes.value(), 5000);
}

TEST(TrialMetrics, NamesAreChecked) {
  EXPECT_TRUE(check_metric("samples_per_second"));
  EXPECT_FALSE(check_metric("a{b}"));
  EXPECT_FALSE(check_metric("a-b"));
}

}  // namespace
}  // namespace assay::cluster
