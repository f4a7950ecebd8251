// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <nlohmann/json.hpp>
#include <regex>

#include <assay/placement/deploy.h>
#include <gtest/gtest.h>

namespace assay::placement {
namespace {

/// A host that does what a test says and remembers what it was told.
class StandIn final : public WorkerHost {
 public:
  Result<void> start(const WorkerPlan& plan) override {
    told += "start " + plan.name + "\n";
    return started;
  }
  Result<bool> serves() override {
    told += "serves\n";
    return --until_it_serves < 0 ? serving : meanwhile;
  }
  Result<std::string> run(const std::string& body, Milliseconds) override {
    told += "run " + body + "\n";
    if (answers.empty()) return refused("no more answers");
    std::string answer = answers.front();
    answers.pop_front();
    return answer;
  }
  std::string address() const override { return ""; }
  Result<void> end() override {
    told += "end\n";
    return ended;
  }

  Result<void> started = {};
  Result<bool> meanwhile = false;
  Result<bool> serving = true;
  Result<void> ended = {};
  int until_it_serves = 0;
  std::deque<std::string> answers;
  std::string told;
};

const WorkerPlan kPlan{.name = "w", .model = "m", .file = {}, .image = "i", .node = "n", .env = {}};

DeployListener patient(int asked = 1000) {
  return {.doing = [](const std::string&) {},
          .wanted = [left = asked]() mutable { return left-- > 0; }};
}

TEST(Deploy, waits_until_it_serves_then_warms_up_and_measures) {
  StandIn host;
  host.until_it_serves = 1;
  host.answers = {R"({"times": [9]})",
                  R"({"engine": "e", "version": "2", "times": [3, 1, 2, 5, 4]})"};
  const auto deployed = deploy(host, kPlan, patient());
  ASSERT_TRUE(deployed) << deployed.error().message;
  EXPECT_EQ(deployed->times.seconds, (std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_EQ(deployed->times.engine, "e");
  EXPECT_EQ(deployed->median(), 3);
  EXPECT_LE(deployed->start, deployed->end);
  EXPECT_EQ(host.told,
            "start w\nserves\nserves\nrun {\"count\": 3, \"seconds\": 0.3}\n"
            "run {\"count\": 300, \"seconds\": 1}\n");
}

TEST(Deploy, slow_models_are_run_a_few_times_however_long_it_takes) {
  StandIn host;
  host.answers = {R"({"times": [9]})", R"({"times": [9, 9]})", R"({"times": [8, 8, 8]})"};
  const auto deployed = deploy(host, kPlan, patient());
  ASSERT_TRUE(deployed) << deployed.error().message;
  EXPECT_EQ(deployed->times.seconds, (std::vector<double>{8, 8, 8, 9, 9}));
  EXPECT_NE(host.told.find(R"(run {"count":3,"seconds":60})"), std::string::npos) << host.told;
}

TEST(Deploy, what_was_not_started_is_not_ended) {
  StandIn host;
  host.started = refused("no such image");
  EXPECT_EQ(deploy(host, kPlan, patient()).error().message, "no such image");
  EXPECT_EQ(host.told, "start w\n");
}

TEST(Deploy, ends_what_it_started_when_it_never_serves_or_cannot_run) {
  StandIn dead;
  dead.serving = fail(ErrorKind::app, "it ended with 4: no such operator");
  EXPECT_EQ(deploy(dead, kPlan, patient()).error().message,
            "w on n: it ended with 4: no such operator; it was ended again");
  EXPECT_TRUE(dead.told.ends_with("end\n"));

  StandIn silent;
  silent.serving = false;
  DeployListener hurried = patient();
  hurried.patience = Milliseconds(0);
  EXPECT_NE(deploy(silent, kPlan, hurried).error().message.find("does not serve"),
            std::string::npos);
  EXPECT_TRUE(silent.told.ends_with("end\n"));

  StandIn wrong;
  wrong.answers = {"<html>"};
  wrong.ended = refused("it does not answer");
  EXPECT_EQ(deploy(wrong, kPlan, patient()).error().message,
            "w on n: the worker's answer is no JSON; it could not be ended: it does not answer");
}

TEST(Deploy, a_daemon_or_cluster_that_is_busy_for_a_moment_is_asked_again) {
  StandIn host;
  host.until_it_serves = 2;
  host.meanwhile = fail({ErrorKind::environment, "too many requests", true});
  host.answers = {R"({"times": [9]})", R"({"times": [1, 2, 3, 4, 5]})"};
  const auto deployed = deploy(host, kPlan, patient());
  EXPECT_TRUE(deployed) << deployed.error().message;

  StandIn busy;
  busy.serving = host.meanwhile;
  DeployListener hurried = patient();
  hurried.patience = Milliseconds(0);
  const auto late = deploy(busy, kPlan, hurried);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().message,
            "w on n: it does not serve after 0 µs: too many requests; it was ended again");
}

TEST(Deploy, ends_what_it_started_when_it_is_given_up) {
  StandIn host;
  host.until_it_serves = 100;
  const auto deployed = deploy(host, kPlan, patient(2));
  ASSERT_FALSE(deployed);
  EXPECT_NE(deployed.error().message.find("interrupted"), std::string::npos);
  EXPECT_TRUE(host.told.ends_with("end\n"));
}

TEST(WorkerTimes, are_above_zero_or_none) {
  EXPECT_EQ(parse_worker_times(R"({"times": [0.5, 1]})")->seconds, (std::vector<double>{0.5, 1}));
  for (const char* answer :
       {"", "[]", "{}", R"({"times": []})", R"({"times": [0]})", R"({"times": [-1]})",
        R"({"times": ["1"]})", R"({"times": [null]})", R"({"times": 3})"})
    EXPECT_FALSE(parse_worker_times(answer)) << answer;
  EXPECT_EQ(parse_worker_times(R"({"error": "out of memory"})").error().message,
            "the worker says: out of memory");
}

TEST(WorkerName, is_one_that_containers_and_pods_can_have) {
  const std::regex good("assay-[a-z0-9]([a-z0-9-]*[a-z0-9])?-[0-9a-f]{6}");
  for (const char* model : {"resnet50", "MobileNet_v2.1", "..", "", "über-groß",
                            "a-very-long-name-that-nobody-would-want-to-type-again-and-again"}) {
    const std::string name = worker_name(model);
    EXPECT_TRUE(std::regex_match(name, good)) << name;
    EXPECT_LE(name.size(), 63U) << name;
  }
  EXPECT_NE(worker_name("m"), worker_name("m"));
}

TEST(WorkerPlan, tells_the_worker_the_shapes_and_threads) {
  model::Characteristics model;
  model::Value input;
  input.name = "x";
  input.known.dims = model::Dims{-1, 3, 8};
  model.inputs.push_back(input);
  const auto plan = worker_plan("a.b", "/models/1.onnx", model, 4);
  EXPECT_EQ(plan.model, "a.b");
  EXPECT_EQ(plan.env.at("ASSAY_SHAPES"), R"({"x":[1,3,8]})");
  EXPECT_EQ(plan.env.at("ASSAY_THREADS"), "4");
  EXPECT_EQ(plan.env.at("ASSAY_PORT"), "7010");
  EXPECT_FALSE(worker_plan("a", "a.onnx", model, 0).env.contains("ASSAY_THREADS"));
}

}  // namespace
}  // namespace assay::placement
