// SPDX-License-Identifier: Apache-2.0
#include "trials/testing/fake_agents.h"
#include "trials/testing/fake_cluster.h"
#include "trials/testing/hanging_socket.h"
#include "trials/testing/trial_fixture.h"

#include <filesystem>
#include <functional>

#include <assay/cluster/trial_history.h>
#include <assay/cluster/trial_runner.h>
#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using testing::FakeAgents;
using testing::FakeCluster;
using testing::HangingSocket;
using testing::kJob;
using testing::kStart;
using testing::log_of_steps;

std::string status_with(const std::string& phase) {
  return fmt::format(
      R"({{"phase": "{}", "containerStatuses": [{{"name": "main", "image": "i:1",
          "containerID": "docker://{}"}}]}})",
      phase, std::string(64, 'c'));
}

class TrialHistoryTest : public ::testing::Test {
 protected:
  TrialHistoryTest() {
    std::string name = std::filesystem::temp_directory_path() / "assay-trials-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    store_ = store::open_sqlite(folder_ / "history.db").value();
    cluster_.log = log_of_steps(300, 1);
    cluster_.status = status_with("Running");
  }
  ~TrialHistoryTest() override { std::filesystem::remove_all(folder_); }

  TrialHistory history() {
    TrialHistory::Place place{.sessions_folder = folder_ / "sessions",
                              .note = [this](const std::string& what) { notes_.push_back(what); },
                              .wanted = [this] { return wanted_; }};
    place.app.name_space = "lab";
    place.app.name = "train";
    return {*store_, agents_, clock_, place};
  }

  Result<TrialResult> run(TrialHistory& history) {
    const TrialWorld world{.clock = clock_,
                           .wanted = [this] { return wanted_; },
                           .pause =
                               [this](Nanoseconds time) {
                                 clock_.advance(time);
                                 if (on_pause_) on_pause_();
                               }};
    TrialRunner runner(client_, nullptr, world, settings_, &history);
    const auto prepared = runner.prepare(read_trial_source(kJob, "job.yaml").value());
    if (!prepared) return fail(prepared.error());
    return runner.run({"A100", 2});
  }

  std::filesystem::path folder_;
  std::unique_ptr<store::Store> store_;
  FakeCluster cluster_;
  kubeapi::Client client_{cluster_.access()};
  ManualClock clock_{kStart};
  FakeAgents agents_{clock_};
  TrialSettings settings_ = testing::short_trials();
  std::vector<std::string> notes_;
  bool wanted_ = true;
  std::function<void()> on_pause_;
};

std::vector<kubeapi::Pod> pods_on_nodes(size_t count) {
  std::vector<kubeapi::Pod> pods(count);
  for (size_t i = 0; i < count; ++i) {
    pods[i].name = fmt::format("train-trial-1-worker-{}", i);
    pods[i].node = fmt::format("n{}", i);
    pods[i].phase = kubeapi::PodPhase::running;
    pods[i].containers = {{.name = "main", .id = fmt::format("c{}", i)},
                          {.name = "beside", .id = fmt::format("b{}", i)}};
  }
  return pods;
}

TEST_F(TrialHistoryTest, agents_that_hang_are_asked_all_at_once_and_then_left_alone) {
  constexpr size_t kNodes = 5;
  const HangingSocket hanging;
  launch::JobSettings settings;
  settings.access = cluster_.access();
  settings.agent_url = hanging.url();
  settings.agent_token = "word";
  settings.agent_patience = Milliseconds(2000);
  const auto agents = launch::open_agents(settings, clock_);
  TrialHistory kept(*store_, *agents, clock_,
                    {.sessions_folder = folder_ / "sessions",
                     .note = [this](const std::string& what) { notes_.push_back(what); }});
  TrialResult trial{.choice = {"A100", 2}, .object = "train-trial-1"};
  kept.begin(trial, settings_,
             {.name = trial.object, .workers = kNodes, .each = 1, .pods = kNodes});
  const auto pods = pods_on_nodes(kNodes);
  kept.look(trial, pods);
  EXPECT_EQ(hanging.most(), kNodes);
  EXPECT_EQ(hanging.connections(), kNodes) << "what a node's first container waited for, its "
                                              "second need not";
  EXPECT_NE(kept.unheard(trial).find("cannot be asked"), std::string::npos) << kept.unheard(trial);
  ASSERT_EQ(notes_.size(), kNodes);
  EXPECT_TRUE(notes_[0].ends_with("; trials go on without it")) << notes_[0];
  clock_.advance(std::chrono::seconds(5));
  kept.look(trial, pods);
  EXPECT_EQ(hanging.connections(), kNodes) << "it rests";
  const auto session = store_->session(kept.end(trial, false));
  EXPECT_EQ(hanging.connections(), 2 * kNodes) << "it may have come back";
  ASSERT_TRUE(session) << session.error().message;
  ASSERT_EQ(session->runs.size(), 2 * kNodes);
  EXPECT_NE(session->runs[0].not_measured.back().why.find("cannot be asked"), std::string::npos);
}

TEST_F(TrialHistoryTest, a_clock_that_somebody_sets_changes_nothing) {
  settings_.measure = {.metric = "fps"};
  agents_.fps = 25;
  for (const int hours : {-1, 1}) {
    auto kept = history();
    const Timestamp begun = clock_.now();
    bool set = false;
    on_pause_ = [&] {
      if (!set && clock_.now() - begun > std::chrono::seconds(30)) {
        clock_.step(std::chrono::hours(hours));
        set = true;
      }
    };
    const auto result = run(kept);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(set);
    EXPECT_EQ(result->end, TrialEnd::measured) << result->reason;
    EXPECT_NEAR(result->throughput.value, 25, 1e-9);
    EXPECT_EQ(seconds(result->end_time - result->begin), 60);
    EXPECT_LE(result->end_time, clock_.wall()) << "as others know it by now";
    EXPECT_LT(clock_.wall() - result->end_time, std::chrono::seconds(30));
  }
}

TEST_F(TrialHistoryTest, a_trial_is_a_session_like_any_other) {
  auto kept = history();
  const auto result = run(kept);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::measured);
  const auto session = store_->session(result->session);
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(session->app.full_name(), "lab/train");
  EXPECT_EQ(session->device.hostname, "n1");
  EXPECT_EQ(session->labels.at("trial"), "train");
  EXPECT_EQ(session->labels.at("choice"), "A100 x 2");
  ASSERT_EQ(session->runs.size(), 1U);
  const RunRecord& run = session->runs[0];
  EXPECT_EQ(run.target.name, "A100 x 2");
  EXPECT_EQ(run.target.image, "i:1");
  EXPECT_EQ(run.target.limits.gpus, "2");
  EXPECT_EQ(run.status, RunStatus::timeout);
  EXPECT_EQ(run.runtime, "kubernetes");
  EXPECT_EQ(seconds(run.duration()), 70);
  EXPECT_EQ(run.exit.user_seconds, 140);
  EXPECT_EQ(run.elsewhere->measured_by, "agent on n1");
  const auto samples = store_->samples(session->id, 1);
  ASSERT_TRUE(samples);
  ASSERT_EQ((*samples)->list().size(), 1U);
  const auto cpu = (*samples)->read(0);
  ASSERT_TRUE(cpu);
  EXPECT_GT(cpu->values.size(), 60U);
  EXPECT_EQ(cpu->values.back(), 140);
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(session->folder) / "session.json"));
  EXPECT_TRUE(notes_.empty());
}

TEST_F(TrialHistoryTest, ends_are_told_as_of_other_runs) {
  auto kept = history();
  cluster_.status = status_with("Failed");
  auto result = run(kept);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end, TrialEnd::failed);
  const auto failed = store_->session(result->session);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->runs[0].status, RunStatus::failed);
  EXPECT_FALSE(failed->runs[0].exit.detail.empty());
  cluster_.set([](FakeCluster& cluster) { cluster.status = status_with("Succeeded"); });
  result = run(kept);
  ASSERT_TRUE(result);
  EXPECT_EQ(store_->session(result->session)->runs[0].status, RunStatus::finished);
}

TEST_F(TrialHistoryTest, what_pods_report_and_use_is_told_by_their_agents) {
  settings_.measure = {.metric = "fps"};
  agents_.fps = 25;
  auto kept = history();
  auto result = run(kept);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::measured) << result->reason;
  EXPECT_NEAR(result->throughput.value, 25, 1e-9);
  EXPECT_EQ(result->source, "fps as its agent has it");
  EXPECT_FALSE(result->utilization) << "of GPUs an agent knows nothing";
  settings_.copy.resource = "cpu";
  result = run(kept);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_NEAR(result->utilization.value(), 1, 1e-9) << "two cores of two";
  settings_.measure = {.metric = "other"};
  result = run(kept);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason,
            "it ran, but its throughput could not be measured: its agent has no numbers above 0");
}

TEST_F(TrialHistoryTest, an_interrupted_trial_is_kept_as_such) {
  int looks = 0;
  cluster_.on_request = [&](FakeCluster&, const std::string& line) {
    if (line.find("/pods?") != line.npos && ++looks == 5) wanted_ = false;
  };
  auto kept = history();
  EXPECT_FALSE(run(kept));
  const auto sessions = store_->list();
  ASSERT_TRUE(sessions);
  ASSERT_EQ(sessions->size(), 1U);
  EXPECT_EQ(sessions->front().status, "interrupted");
  EXPECT_EQ(cluster_.objects(), 0U);
}

TEST_F(TrialHistoryTest, without_agents_trials_go_on_and_it_is_said_once) {
  agents_.absent = true;
  auto kept = history();
  for (int i = 0; i < 2; ++i) {
    const auto result = run(kept);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->end, TrialEnd::measured);
    EXPECT_EQ(result->session, "");
  }
  EXPECT_EQ(notes_, std::vector<std::string>{
                        "trials are not kept in the history: there is no agent on n1"});
  EXPECT_TRUE(store_->list()->empty());
}

TEST_F(TrialHistoryTest, an_agent_that_falls_silent_is_told_in_the_run) {
  agents_.silent = true;
  auto kept = history();
  const auto result = run(kept);
  ASSERT_TRUE(result) << result.error().message;
  const auto session = store_->session(result->session);
  ASSERT_TRUE(session);
  const auto& gaps = session->runs[0].not_measured;
  EXPECT_TRUE(std::any_of(gaps.begin(), gaps.end(), [](const NotMeasured& gap) {
    return gap.what == "app" && gap.why == "it is silent";
  }));
}

TEST_F(TrialHistoryTest, agents_are_not_blamed_when_whoever_tries_does_not_wait_for_them) {
  wanted_ = false;
  for (const bool absent : {false, true}) {
    agents_.absent = absent;
    agents_.silent = !absent;
    auto kept = history();
    TrialResult trial{.choice = {"A100", 2}, .object = "train-trial-1"};
    kept.begin(trial, settings_, {.name = trial.object, .workers = 1, .each = 2, .pods = 1});
    kept.look(trial, pods_on_nodes(1));
    kept.end(trial, true);
    EXPECT_TRUE(notes_.empty()) << notes_[0];
  }
}

TEST_F(TrialHistoryTest, what_an_agent_cannot_tell_says_nothing_about_the_choice) {
  settings_.measure = {.metric = "fps"};
  agents_.fps = 25;
  agents_.silent = true;
  auto kept = history();
  const auto result = run(kept);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::lost);
  EXPECT_EQ(result->reason, "it is silent");
}

TEST_F(TrialHistoryTest, a_trial_within_its_warm_up_is_told_as_such) {
  cluster_.status = status_with("Succeeded");
  auto kept = history();
  const auto result = run(kept);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::failed);
  EXPECT_EQ(result->reason, "it ended within its warm-up; --warm-up says how long that is");
}

TEST_F(TrialHistoryTest, an_agent_that_starts_later_is_asked_from_then_on) {
  agents_.absent = true;
  auto kept = history();
  TrialResult trial{.choice = {"A100", 2}, .object = "train-trial-1"};
  kept.begin(trial, settings_, {.name = trial.object, .workers = 1, .each = 2, .pods = 1});
  std::vector<kubeapi::Pod> pods(1);
  pods[0].name = "train-trial-1-x";
  pods[0].node = "n1";
  pods[0].phase = kubeapi::PodPhase::running;
  pods[0].containers = {{.name = "main", .id = "c"}};
  kept.look(trial, pods);
  EXPECT_EQ(kept.unheard(trial), "there is no agent on n1");
  agents_.absent = false;
  clock_.advance(std::chrono::seconds(11));
  kept.look(trial, pods);
  EXPECT_EQ(kept.unheard(trial), "");
  EXPECT_NE(kept.end(trial, false), "");
}

TEST_F(TrialHistoryTest, each_pod_is_a_run_also_one_that_nobody_measures) {
  auto kept = history();
  TrialResult trial{.choice = {"A100", 2}, .object = "train-trial-1"};
  kept.begin(trial, settings_, {.name = trial.object, .workers = 2, .each = 1, .pods = 2});
  std::vector<kubeapi::Pod> pods(2);
  for (int i = 0; i < 2; ++i) {
    pods[i].name = fmt::format("train-trial-1-worker-{}", i);
    pods[i].node = i == 0 ? "bare" : "n2";
    pods[i].phase = kubeapi::PodPhase::running;
    pods[i].containers = {{.name = "prepare", .id = "p", .prepares = true},
                          {.name = "main", .id = fmt::format("c{}", i)}};
  }
  pods[1].containers.push_back({.name = "sidecar", .id = "s"});
  kept.look(trial, pods);
  clock_.advance(std::chrono::seconds(1));
  kept.look(trial, pods);
  const auto session = store_->session(kept.end(trial, false));
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(session->device.hostname, "n2");
  ASSERT_EQ(session->runs.size(), 3U);
  EXPECT_EQ(session->runs[0].target.name, "A100 x 2, worker-0");
  EXPECT_EQ(session->runs[0].not_measured.back().why, "there is no agent on bare");
  EXPECT_EQ(session->runs[1].target.name, "A100 x 2, worker-1, main");
  EXPECT_EQ(session->runs[1].target.limits.gpus, "1");
}

}  // namespace
}  // namespace assay::cluster
