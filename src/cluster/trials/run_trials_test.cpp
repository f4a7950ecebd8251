// SPDX-License-Identifier: Apache-2.0
#include "trials/testing/fake_cluster.h"
#include "trials/testing/trial_fixture.h"

#include <set>

#include <assay/cluster/trial_report.h>
#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using testing::FakeCluster;
using testing::kJob;
using testing::kStart;
using testing::log_of_steps;
using Json = nlohmann::json;

constexpr const char* kRuns = R"({"phase": "Running"})";
constexpr const char* kWaits = R"({"phase": "Pending", "conditions": [{"type": "PodScheduled",
    "status": "False", "reason": "Unschedulable", "message": "0/2 nodes are available"}]})";

class RunTrials : public ::testing::Test {
 protected:
  RunTrials() {
    cluster_.log = log_of_steps(900, 1);
    settings_.at_once = 2;
    settings_.copy.shares_nodes = false;
    report_.choices = {{"A100", 1}, {"A100", 2}, {"A100", 3}};
    report_.limits.every = true;
  }

  Result<void> run() {
    const TrialWorld world{.clock = clock_,
                           .wanted = [this] { return wanted_; },
                           .pause = [this](Nanoseconds time) { clock_.advance(time); },
                           .doing = [this](const std::string& what) { said_ += what + "\n"; }};
    TrialRunner runner(client_, nullptr, world, settings_);
    const auto prepared = runner.prepare(read_trial_source(kJob, "job.yaml").value());
    if (!prepared) return prepared;
    return run_trials(runner, world, report_);
  }

  std::set<std::string> nodes() const {
    std::set<std::string> all;
    for (const auto& trial : report_.trials) all.insert(trial.nodes.begin(), trial.nodes.end());
    return all;
  }
  size_t measured() const {
    return static_cast<size_t>(
        std::count_if(report_.trials.begin(), report_.trials.end(),
                      [](const auto& one) { return one.end == TrialEnd::measured; }));
  }

  FakeCluster cluster_;
  kubeapi::Client client_{cluster_.access()};
  ManualClock clock_{kStart};
  TrialSettings settings_ = testing::short_trials();
  TrialReport report_;
  std::string said_;
  bool wanted_ = true;
  int created_ = 0;
};

TEST_F(RunTrials, one_after_the_other_unless_more_are_allowed) {
  settings_.at_once = 1;
  cluster_.node_count = 2;
  const auto done = run();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(measured(), 3U);
  EXPECT_EQ(cluster_.most_objects(), 1U);
  EXPECT_EQ(cluster_.objects(), 0U);
}

TEST_F(RunTrials, several_at_once_are_on_nodes_of_their_own) {
  cluster_.node_count = 2;
  const auto done = run();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(measured(), 3U);
  EXPECT_EQ(cluster_.most_objects(), 2U);
  EXPECT_EQ(nodes(), (std::set<std::string>{"n1", "n2"}));
  EXPECT_LT(clock_.now() - kStart, std::chrono::seconds(3 * 70)) << "it takes less time";
  EXPECT_NE(cluster_.last_created().find("podAntiAffinity"), std::string::npos);
  EXPECT_EQ(cluster_.objects(), 0U);
}

TEST_F(RunTrials, a_node_is_shared_only_when_that_is_allowed) {
  auto done = run();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(cluster_.most_objects(), 1U);
  settings_.copy.shares_nodes = true;
  report_.trials.clear();
  report_.choices = {{"A100", 1}, {"A100", 3}};
  done = run();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(measured(), 2U);
  EXPECT_EQ(cluster_.most_objects(), 2U);
  EXPECT_EQ(cluster_.last_created().find("podAntiAffinity"), std::string::npos);
}

TEST_F(RunTrials, what_does_not_fit_beside_the_others_waits) {
  settings_.copy.shares_nodes = true;
  report_.choices = {{"A100", 2}, {"A100", 3}};
  const auto done = run();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(measured(), 2U);
  EXPECT_EQ(cluster_.most_objects(), 1U);
}

TEST_F(RunTrials, no_room_beside_others_says_nothing_about_a_choice) {
  cluster_.node_count = 2;
  report_.choices = {{"A100", 1}, {"A100", 2}};
  const auto choice = [](const Json& pod) {
    return pod["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"];
  };
  std::string first;
  cluster_.status_of = [&](const Json& pod, size_t pods) {
    const std::string gpus = choice(pod);
    if (first.empty()) first = gpus;
    return gpus != first && pods > 1 ? kWaits : kRuns;
  };
  const auto done = run();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(cluster_.most_objects(), 2U);
  EXPECT_EQ(report_.trials.size(), 2U);
  EXPECT_EQ(measured(), 2U);
  EXPECT_NE(said_.find("no room beside others"), std::string::npos) << said_;
}

TEST_F(RunTrials, where_room_is_not_told_they_run_one_after_the_other) {
  cluster_.node_count = 2;
  cluster_.tells_all_pods = false;
  const auto done = run();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(measured(), 3U);
  EXPECT_EQ(cluster_.most_objects(), 1U);
  const size_t at = said_.find("let its account get, list and watch pods");
  EXPECT_NE(at, std::string::npos);
  EXPECT_EQ(said_.find("list and watch pods", at + 40), std::string::npos) << "once is enough";
}

TEST_F(RunTrials, an_interrupt_between_two_trials_is_told) {
  cluster_.on_request = [this](FakeCluster&, const std::string& line) {
    if (line.starts_with("DELETE")) wanted_ = false;
  };
  EXPECT_TRUE(run()) << "what was learned before is worth something";
  EXPECT_TRUE(report_.interrupted);
  EXPECT_EQ(report_.trials.size(), 1U);
  EXPECT_EQ(cluster_.objects(), 0U);
}

TEST_F(RunTrials, an_interrupt_removes_all) {
  cluster_.node_count = 2;
  cluster_.on_request = [this](FakeCluster&, const std::string& line) {
    if (line.starts_with("POST") && ++created_ == 2) wanted_ = false;
  };
  EXPECT_FALSE(run());
  EXPECT_TRUE(report_.interrupted);
  EXPECT_EQ(cluster_.most_objects(), 2U);
  EXPECT_EQ(cluster_.objects(), 0U);
}

TEST_F(RunTrials, a_refusal_of_one_removes_the_others) {
  cluster_.node_count = 2;
  cluster_.on_request = [this](FakeCluster& cluster, const std::string& line) {
    if (line.starts_with("POST") && ++created_ == 2) cluster.silent = 1'000'000;
    if (line.starts_with("DELETE")) cluster.silent = 0;
  };
  const auto done = run();
  ASSERT_FALSE(done);
  EXPECT_EQ(cluster_.objects(), 0U) << done.error().message;
}

}  // namespace
}  // namespace assay::cluster
