// SPDX-License-Identifier: Apache-2.0
#include "testing/http_server.h"
#include "trials/testing/fake_cluster.h"
#include "trials/testing/trial_fixture.h"

#include <assay/base/process_id.h>
#include <assay/cluster/trial_runner.h>
#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using testing::FakeCluster;
using testing::kJob;
using testing::kStart;
using testing::log_of_steps;

class TrialRunnerTest : public ::testing::Test {
 protected:
  TrialRunnerTest() {
    cluster_.log = log_of_steps(300, 20);
    settings_.prices = {{"A100", 3.6}};
  }

  Result<TrialResult> run(const Choice& choice = {"A100", 2}) {
    TrialRunner runner(client_, queries_, world(), settings_);
    const auto prepared = runner.prepare(read_trial_source(source_, "job.yaml").value());
    if (!prepared) return fail(prepared.error());
    return runner.run(choice);
  }

  TrialWorld world() {
    return {.clock = clock_,
            .wanted = [this] { return wanted_; },
            .pause = [this](Nanoseconds time) { clock_.advance(time); },
            .doing = [](const std::string&) {}};
  }

  /// Changes the cluster when the pods are asked for the n-th time.
  void at_look(int look, std::function<void(FakeCluster&)> change) {
    changes_[look] = std::move(change);
    cluster_.on_request = [this](FakeCluster& cluster, const std::string& line) {
      if (!line.starts_with("GET /api/v1/namespaces/lab/pods?")) return;
      if (const auto found = changes_.find(++looks_); found != changes_.end())
        found->second(cluster);
    };
  }

  int looks_ = 0;
  std::map<int, std::function<void(FakeCluster&)>> changes_;
  FakeCluster cluster_;
  kubeapi::Client client_{cluster_.access()};
  ManualClock clock_{kStart};
  TrialSettings settings_ = testing::short_trials();
  bool wanted_ = true;
  promapi::Queries* queries_ = nullptr;
  std::string source_ = kJob;
};

TEST_F(TrialRunnerTest, measures_and_removes) {
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::measured) << result->reason;
  EXPECT_NEAR(result->throughput.value, 20, 1e-6);
  EXPECT_NEAR(result->unit_cost.value(), 2 * 3.6 / 3600 / 20, 1e-9);
  EXPECT_EQ(result->pods.size(), 1U);
  EXPECT_EQ(result->nodes, std::vector<std::string>{"n1"});
  EXPECT_FALSE(result->utilization);
  EXPECT_EQ(seconds(result->end_time - result->begin), 60);
  EXPECT_EQ(cluster_.objects(), 0U);
}

TEST_F(TrialRunnerTest, of_a_unit_is_told_what_it_costs_in_energy_too) {
  const auto prometheus = net::testing::HttpServer::on_loopback([](auto& connection) {
    for (auto request = connection.read_request(); !request.empty();
         request = connection.read_request()) {
      const std::string values = request.find("POWER_USAGE") == request.npos
                                     ? ""
                                     : R"({"metric": {}, "values": [[1, "200"], [6, "220"]]})";
      const auto body = fmt::format(
          R"({{"status": "success", "data": {{"resultType": "matrix", "result": [{}]}}}})", values);
      connection.write(
          fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body));
    }
  });
  promapi::Queries queries({.url = prometheus->base()});
  queries_ = &queries;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_DOUBLE_EQ(result->watts.value(), 210);
  EXPECT_NEAR(result->unit_joules.value(), 210 / 20.0, 1e-6);
}

TEST_F(TrialRunnerTest, the_original_owns_the_copy) {
  cluster_.original_is_there = true;
  ASSERT_TRUE(run());
  EXPECT_NE(cluster_.last_created().find(R"("uid":"original")"), std::string::npos);
}

TEST_F(TrialRunnerTest, copies_have_the_lower_priority_that_the_cluster_has_for_them) {
  ASSERT_TRUE(run());
  EXPECT_EQ(cluster_.last_created().find("priorityClassName"), std::string::npos);
  cluster_.set([](FakeCluster& cluster) { cluster.has_priority = true; });
  ASSERT_TRUE(run());
  EXPECT_NE(cluster_.last_created().find(R"("priorityClassName":"assay-trial")"),
            std::string::npos);
  settings_.copy.priority_class = "mine";
  ASSERT_TRUE(run());
  EXPECT_NE(cluster_.last_created().find(R"("priorityClassName":"mine")"), std::string::npos);
}

TEST_F(TrialRunnerTest, pods_that_somebody_replaced_are_lost) {
  int looks = 0;
  cluster_.on_request = [&](FakeCluster& cluster, const std::string& line) {
    if (line.starts_with("GET /api/v1/namespaces/lab/pods?") && ++looks == 8)
      cluster.pod_suffix = "-other";
  };
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::lost);
  EXPECT_EQ(result->reason, "somebody deleted its pods");
  EXPECT_EQ(cluster_.objects(), 0U);
}

constexpr const char* kWaits = R"({"phase": "Pending", "conditions": [{"type": "PodScheduled",
    "status": "False", "reason": "Unschedulable",
    "message": "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."}]})";

TEST_F(TrialRunnerTest, room_that_others_have_just_then_says_little_about_the_choice) {
  cluster_.status = kWaits;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::busy) << "the node has four";
  EXPECT_NE(result->reason.find("Insufficient"), std::string::npos) << result->reason;
  EXPECT_EQ(cluster_.objects(), 0U);
}

TEST_F(TrialRunnerTest, room_that_no_node_has_is_a_result) {
  cluster_.status = kWaits;
  auto result = run({"A100", 5});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::no_room);
  cluster_.set([](FakeCluster& cluster) { cluster.forbidden = "/nodes"; });
  result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::no_room) << "nobody tells what nodes have";
  EXPECT_EQ(cluster_.objects(), 0U);
}

TEST_F(TrialRunnerTest, room_that_no_node_has_of_something_else_is_a_result) {
  cluster_.status = R"({"phase": "Pending", "conditions": [{"type": "PodScheduled",
      "status": "False", "reason": "Unschedulable",
      "message": "0/1 nodes are available: 1 Insufficient cpu."}]})";
  for (const auto& [cpus, end] : {std::pair(8, TrialEnd::busy), {9, TrialEnd::no_room}}) {
    source_ = fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{name: train}}
spec: {{template: {{spec: {{containers: [{{name: main, image: i, resources: {{requests: {{cpu: {}}}}}}}]}}}}}}
)",
                          cpus);
    const auto result = run();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->end, end) << cpus << " of the node's eight";
  }
}

TEST_F(TrialRunnerTest, room_that_only_nodes_of_other_kinds_have_is_a_result) {
  cluster_.status = R"({"phase": "Pending", "conditions": [{"type": "PodScheduled",
      "status": "False", "reason": "Unschedulable",
      "message": "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match."}]})";
  source_ = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec: {template: {spec: {containers: [{name: main, image: i, resources: {requests: {cpu: 9}}}]}}}
)";
  cluster_.more_nodes = R"([{"metadata": {"name": "t1", "uid": "t",
      "labels": {"nvidia.com/gpu.product": "T4"}},
      "status": {"allocatable": {"nvidia.com/gpu": "4", "cpu": "64"},
                 "conditions": [{"type": "Ready", "status": "True"}]}}])";
  auto result = run({"A100", 1});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::no_room) << "a node of another kind has 64, its own have eight";
  result = run({"T4", 1});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::busy);
}

TEST_F(TrialRunnerTest, a_quota_that_others_use_up_says_little_about_the_choice) {
  cluster_.refusal =
      "jobs.batch is forbidden: exceeded quota: small, requested: requests.nvidia.com/gpu=2, used: "
      "requests.nvidia.com/gpu=3, limited: requests.nvidia.com/gpu=4";
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::busy);
}

TEST_F(TrialRunnerTest, a_quota_of_jobs_counts_one_job_and_not_its_pods) {
  source_ = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: 2
  template: {spec: {containers: [{name: main, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}
)";
  cluster_.refusal =
      "jobs.batch is forbidden: exceeded quota: few, requested: count/jobs.batch=1, "
      "used: count/jobs.batch=3, limited: count/jobs.batch=3";
  auto result = run({"A100", 4});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::busy) << "another time it may be one of the three";
  cluster_.set([](FakeCluster& cluster) {
    cluster.refusal.clear();
    cluster.makes_pods = false;
    cluster.events = R"({"metadata": {}, "items": [{"type": "Warning", "message":
        "exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3"}]})";
  });
  result = run({"A100", 4});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::no_room) << "it would need four pods";
}

TEST_F(TrialRunnerTest, a_quota_that_refuses_the_job_is_a_result) {
  cluster_.refusal = "jobs.batch is forbidden: exceeded quota: small";
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::no_room);
  EXPECT_NE(result->reason.find("exceeded quota"), std::string::npos);
}

TEST_F(TrialRunnerTest, a_quota_that_refuses_its_pods_is_a_result) {
  cluster_.makes_pods = false;
  cluster_.events = R"({"metadata": {}, "items": [5, {"type": "Normal", "message": "x"},
      {"type": "Warning", "message": "Error creating: pods \"x\" is forbidden: exceeded quota: small"}]})";
  auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::no_room) << result->reason;
  cluster_.set([](FakeCluster& cluster) { cluster.events = "{}"; });
  result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::failed);
  EXPECT_EQ(result->reason, "no pod was made; does its operator run?");
}

TEST_F(TrialRunnerTest, an_app_that_fails_is_a_result_with_its_last_words) {
  cluster_.status = R"({"phase": "Failed", "containerStatuses": [{"state": {"terminated":
      {"exitCode": 137, "reason": "OOMKilled"}}}]})";
  cluster_.log = "out of memory";
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::failed);
  EXPECT_EQ(result->reason, "it ended with 137 (OOMKilled): 'out of memory'");
  EXPECT_EQ(cluster_.objects(), 0U);
}

TEST_F(TrialRunnerTest, last_words_that_no_log_tells_are_those_that_its_node_kept) {
  cluster_.status = R"({"phase": "Failed", "containerStatuses": [{"state": {"terminated":
      {"exitCode": 3, "reason": "Error", "message": "step 1\nInsufficient luck\n"}}}]})";
  for (const char* log : {"", "Insufficient luck\n"}) {
    cluster_.set([&](FakeCluster& cluster) { cluster.log = log; });
    const auto result = run();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->end, TrialEnd::failed);
    EXPECT_EQ(result->reason, "it ended with 3 (Error: Insufficient luck)") << "once, not twice";
  }
}

TEST_F(TrialRunnerTest, last_words_are_also_told_where_they_look_like_how_it_ended) {
  cluster_.status = R"({"phase": "Failed", "containerStatuses": [{"state": {"terminated":
      {"exitCode": 1, "reason": "Error"}}}]})";
  cluster_.log = "1";
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, "it ended with 1 (Error): '1'");
}

TEST_F(TrialRunnerTest, what_an_app_of_several_containers_wrote_last_is_not_taken_for_room) {
  cluster_.status = R"({"phase": "Pending", "containerStatuses": [{"state": {"terminated":
      {"exitCode": 3, "reason": "Error", "message": "Insufficient luck"}}}]})";
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::failed);
}

TEST_F(TrialRunnerTest, an_image_that_is_not_there_is_not_waited_for) {
  cluster_.status = R"({"phase": "Pending", "containerStatuses": [{"state": {"waiting":
      {"reason": "ImagePullBackOff", "message": "no such image"}}}]})";
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::failed);
  EXPECT_LT(clock_.now() - kStart, std::chrono::seconds(5));
}

TEST_F(TrialRunnerTest, a_node_that_disappears_loses_the_trial) {
  at_look(8, [](FakeCluster& cluster) { cluster.node_is_there = false; });
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::lost);
  EXPECT_EQ(result->reason, "its node n1 disappeared");
  EXPECT_EQ(cluster_.objects(), 0U);
  EXPECT_LT(clock_.now() - kStart, std::chrono::seconds(20)) << "nobody ends its pod for it";
}

TEST_F(TrialRunnerTest, a_node_that_disappears_while_pods_start_says_nothing_about_the_choice) {
  cluster_.status = R"({"phase": "Pending"})";
  at_look(8, [](FakeCluster& cluster) { cluster.node_is_there = false; });
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::lost) << result->reason;
  EXPECT_EQ(result->reason, "its node n1 disappeared");
  EXPECT_EQ(cluster_.objects(), 0U);
}

TEST_F(TrialRunnerTest, pods_that_do_not_start_are_told_so) {
  cluster_.status = R"({"phase": "Pending"})";
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::failed);
  EXPECT_EQ(result->reason, "its pods did not start; --patience says how long they may take");
}

TEST_F(TrialRunnerTest, a_node_that_is_silent_for_long_loses_the_trial) {
  at_look(8, [](FakeCluster& cluster) { cluster.node_is_ready = false; });
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::lost);
  EXPECT_EQ(result->reason, "its node n1 disappeared");
  EXPECT_EQ(cluster_.objects(), 0U);
  EXPECT_LT(clock_.now() - kStart, std::chrono::seconds(45));
}

TEST_F(TrialRunnerTest, a_node_that_is_silent_for_a_moment_does_not) {
  at_look(8, [](FakeCluster& cluster) { cluster.node_is_ready = false; });
  at_look(20, [](FakeCluster& cluster) { cluster.node_is_ready = true; });
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::measured) << result->reason;
}

TEST_F(TrialRunnerTest, a_trial_that_is_interrupted_with_its_node_lost_is_removed) {
  at_look(8, [this](FakeCluster& cluster) {
    cluster.node_is_there = false;
    wanted_ = false;
  });
  EXPECT_FALSE(run());
  EXPECT_EQ(cluster_.objects(), 0U);
}

TEST_F(TrialRunnerTest, pods_on_a_node_that_is_silent_for_a_moment_are_not_forced_away) {
  int looks = 0;  // at the Job, while it goes
  cluster_.on_request = [&](FakeCluster& cluster, const std::string& line) {
    if (line.starts_with("GET /api/v1/namespaces/lab/pods?") && ++looks_ == 8) {
      cluster.node_is_ready = false;
      wanted_ = false;
    }
    if (wanted_ || !line.starts_with("GET /apis/batch/v1/namespaces/lab/jobs/")) return;
    if (++looks == 15) cluster.node_is_ready = true;
  };
  EXPECT_FALSE(run());
  EXPECT_GE(looks, 15);
  EXPECT_EQ(cluster_.objects(), 0U);
  for (const auto& line : cluster_.asked())
    EXPECT_FALSE(line.starts_with("DELETE /api/v1/namespaces/lab/pods/")) << line;
}

TEST_F(TrialRunnerTest, an_api_server_that_restarts_is_waited_for) {
  int count = 0;
  cluster_.on_request = [&](FakeCluster& cluster, const std::string& line) {
    // While it is created, while it runs, and while it is removed.
    ++count;
    if (line.starts_with("POST") && count < 10) cluster.silent = 2;
    if (count == 15 || (line.starts_with("DELETE") && count < 1000)) {
      cluster.silent = 3;
      if (line.starts_with("DELETE")) count = 1000;
    }
  };
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::measured) << result->reason;
  EXPECT_EQ(cluster_.objects(), 0U);
}

TEST_F(TrialRunnerTest, a_creation_whose_answer_was_lost_happened) {
  cluster_.lost_answers = 1;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::measured);
  EXPECT_EQ(cluster_.objects(), 0U);
}

TEST_F(TrialRunnerTest, an_api_server_that_stays_away_is_an_error_that_says_how_to_clean) {
  cluster_.on_request = [](FakeCluster& cluster, const std::string& line) {
    if (line.find("/pods?") != line.npos) cluster.silent = 100'000;
  };
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("assay cluster trial --clean"), std::string::npos)
      << result.error().message;
}

TEST_F(TrialRunnerTest, an_interrupted_trial_is_removed) {
  cluster_.on_request = [this](FakeCluster&, const std::string& line) {
    if (line.find("/pods?") != line.npos) wanted_ = false;
  };
  EXPECT_FALSE(run());
  EXPECT_EQ(cluster_.objects(), 0U);
  EXPECT_TRUE(cluster_.asked().back().starts_with("GET /apis/batch"))
      << "it waited until it was gone";
}

TEST_F(TrialRunnerTest, a_kind_that_is_not_installed_is_told) {
  TrialRunner runner(client_, nullptr, world(), settings_);
  const auto prepared = runner.prepare({.kind = {"kubeflow.org", "v1", "MPIJob"}, .name = "x"});
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().kind, ErrorKind::input);
  EXPECT_NE(prepared.error().message.find("operator"), std::string::npos);
}

TEST_F(TrialRunnerTest, numbers_that_nobody_wrote_are_told) {
  cluster_.log = "2026-01-01T00:00:20Z nothing\n";
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::lost);
  EXPECT_EQ(result->reason,
            "it ran, but its throughput could not be measured: no line of its log has a number by "
            "--log-pattern");
}

TEST_F(TrialRunnerTest, an_api_server_that_is_away_at_the_end_is_waited_for) {
  const Timestamp end = kStart + settings_.warm_up + settings_.time;
  bool was_away = false;
  cluster_.on_request = [&](FakeCluster& cluster, const std::string& line) {
    const bool away = clock_.now() >= end && clock_.now() < end + settings_.patience / 2;
    if (away && line.find("/pods") != line.npos) cluster.silent = 1;
    was_away |= away;
  };
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(was_away);
  EXPECT_EQ(result->end, TrialEnd::measured) << result->reason;
}

TEST_F(TrialRunnerTest, an_app_that_failed_while_nobody_could_see_it_is_not_measured) {
  const Timestamp end = kStart + settings_.warm_up + settings_.time;
  cluster_.on_request = [&](FakeCluster& cluster, const std::string& line) {
    const bool away = clock_.now() >= end - settings_.time / 2 && clock_.now() < end;
    if (away && line.find("/pods") != line.npos) cluster.silent = 1;
    if (away)
      cluster_.status = R"({"phase": "Failed", "containerStatuses": [{"state": {"terminated":
          {"exitCode": 137, "reason": "OOMKilled"}}}]})";
  };
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, TrialEnd::failed);
  EXPECT_TRUE(result->reason.starts_with("it ended with 137 (OOMKilled)")) << result->reason;
}

TEST_F(TrialRunnerTest, room_is_known_from_nodes) {
  TrialRunner runner(client_, nullptr, world(), settings_);
  ASSERT_TRUE(runner.prepare(read_trial_source(kJob, "job.yaml").value()));
  EXPECT_FALSE(runner.lacks_room({"A100", 4}));
  EXPECT_EQ(runner.lacks_room({"A100", 8}), "no node has so many nvidia.com/gpu");
  EXPECT_EQ(runner.lacks_room({"T4", 1}),
            "no node has the label nvidia.com/gpu.product=T4; there are A100");
  EXPECT_FALSE(runner.lacks_room({"", 2}));
}

TEST_F(TrialRunnerTest, leftovers_are_found_by_their_label) {
  net::Stopper stopper;
  const auto source = read_trial_source(kJob, "job.yaml").value();
  const auto copy = make_trial_copy(source, {"A100", 1}, settings_.copy, 1).value();
  ASSERT_TRUE(client_.call(
      {.method = "POST", .path = "/apis/batch/v1/namespaces/lab/jobs", .body = copy.manifest},
      stopper));
  const auto removed = clean_trials(client_, clock_, "lab", "train", Cleaning::all, stopper);
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(removed->removed, std::vector<std::string>{copy.name});
  EXPECT_TRUE(removed->left.empty());
  EXPECT_EQ(cluster_.objects(), 0U);
}

TEST_F(TrialRunnerTest, copies_of_a_call_that_lives_are_not_left_over) {
  const SysRoot root;
  const ProcessId self = ProcessId::self(root);
  ProcessId dead = self;
  ++dead.start_ticks;
  const std::string here = machine_name(root, self);
  cluster_.created_at = format_utc(kStart);
  settings_.copy.deadline = std::chrono::minutes(5);
  const auto source = read_trial_source(kJob, "job.yaml").value();
  net::Stopper stopper;
  std::vector<std::string> names;
  const auto make = [&](const std::string& owner, const std::string& machine) {
    settings_.copy.owner = owner;
    settings_.copy.machine = machine;
    const auto copy = make_trial_copy(source, {"A100", 1}, settings_.copy, names.size()).value();
    names.push_back(copy.name);
    ASSERT_TRUE(client_.call(
        {.method = "POST", .path = "/apis/batch/v1/namespaces/lab/jobs", .body = copy.manifest},
        stopper));
  };
  make(self.text(), here);
  make(dead.text(), here);
  make(dead.text(), "another");
  make("", "");
  auto cleaned = clean_trials(client_, clock_, "lab", "train", Cleaning::unused, stopper);
  ASSERT_TRUE(cleaned) << cleaned.error().message;
  EXPECT_EQ(cleaned->removed, (std::vector{names[1], names[3]}));
  ASSERT_EQ(cleaned->used.size(), 2U);
  EXPECT_EQ(cleaned->used[0].name, names[0]);
  EXPECT_EQ(cleaned->used[0].since, kStart);
  EXPECT_FALSE(cleaned->used[0].elsewhere);
  EXPECT_EQ(cleaned->used[1].name, names[2]);
  EXPECT_TRUE(cleaned->used[1].elsewhere);
  EXPECT_EQ(cleaned->used[1].until, kStart + std::chrono::minutes(5));
  clock_.advance(std::chrono::minutes(5));
  cleaned = clean_trials(client_, clock_, "lab", "train", Cleaning::unused, stopper);
  ASSERT_TRUE(cleaned) << cleaned.error().message;
  EXPECT_EQ(cleaned->removed, std::vector{names[2]}) << "its deadline is over";
  EXPECT_EQ(cleaned->used.size(), 1U);
  cleaned = clean_trials(client_, clock_, "lab", "train", Cleaning::all, stopper);
  ASSERT_TRUE(cleaned) << cleaned.error().message;
  EXPECT_EQ(cleaned->removed, std::vector{names[0]});
  EXPECT_EQ(cluster_.objects(), 0U);
}

TEST_F(TrialRunnerTest, a_call_in_another_container_is_not_told_to_be_on_another_machine) {
  const SysRoot root;
  ProcessId inside = ProcessId::self(root);
  ++inside.pid_namespace;
  settings_.copy.owner = inside.text();
  settings_.copy.machine = machine_name(root, inside);
  cluster_.created_at = format_utc(kStart);
  settings_.copy.deadline = std::chrono::minutes(5);
  const auto source = read_trial_source(kJob, "job.yaml").value();
  const auto copy = make_trial_copy(source, {"A100", 1}, settings_.copy, 1).value();
  net::Stopper stopper;
  ASSERT_TRUE(client_.call(
      {.method = "POST", .path = "/apis/batch/v1/namespaces/lab/jobs", .body = copy.manifest},
      stopper));
  const auto cleaned = clean_trials(client_, clock_, "lab", "train", Cleaning::unused, stopper);
  ASSERT_TRUE(cleaned) << cleaned.error().message;
  ASSERT_EQ(cleaned->used.size(), 1U);
  EXPECT_EQ(
      used_text(cleaned->used[0], settings_.copy),
      "trials of train run already on another machine, or in another container of this one, "
      "as " +
          copy.name +
          " since 2026-01-01T00:00:00.000Z; wait for them until "
          "2026-01-01T00:05:00.000Z, or end them with `assay cluster trial --clean -n lab --name "
          "train`");
  EXPECT_TRUE(
      used_text({.name = "x"}, settings_.copy).starts_with("trials of train run already, as x; "));
}

TEST_F(TrialRunnerTest, a_namespace_that_is_not_there_has_no_leftovers_to_remove) {
  net::Stopper stopper;
  const auto cleaned = clean_trials(client_, clock_, "nope", "", Cleaning::all, stopper);
  ASSERT_FALSE(cleaned);
  EXPECT_EQ(cleaned.error().kind, ErrorKind::input);
  EXPECT_TRUE(cleaned.error().message.starts_with("the cluster has no namespace 'nope'; "))
      << cleaned.error().message;
  cluster_.set([](FakeCluster& cluster) { cluster.forbidden = "GET /api/v1/namespaces/nope"; });
  EXPECT_TRUE(clean_trials(client_, clock_, "nope", "", Cleaning::all, stopper))
      << "nobody lets us see it";
}

TEST_F(TrialRunnerTest, a_kind_that_nobody_lets_us_see_does_not_keep_the_others) {
  net::Stopper stopper;
  const auto source = read_trial_source(kJob, "job.yaml").value();
  const auto copy = make_trial_copy(source, {"A100", 1}, settings_.copy, 1).value();
  const kubeapi::Call creation{
      .method = "POST", .path = "/apis/batch/v1/namespaces/lab/jobs", .body = copy.manifest};
  ASSERT_TRUE(client_.call(creation, stopper));
  cluster_.set([](FakeCluster& cluster) { cluster.forbidden = "GET /api/v1/namespaces/lab/pods"; });
  auto cleaned = clean_trials(client_, clock_, "lab", "train", Cleaning::all, stopper);
  ASSERT_TRUE(cleaned) << cleaned.error().message;
  EXPECT_EQ(cleaned->removed, std::vector<std::string>{copy.name});
  ASSERT_EQ(cleaned->left.size(), 1U);
  EXPECT_TRUE(cleaned->left[0].starts_with("pods were not looked at: ")) << cleaned->left[0];
  ASSERT_TRUE(client_.call(creation, stopper));
  cluster_.set([](FakeCluster& cluster) { cluster.forbidden = "DELETE "; });
  cleaned = clean_trials(client_, clock_, "lab", "train", Cleaning::all, stopper);
  ASSERT_TRUE(cleaned) << cleaned.error().message;
  ASSERT_EQ(cleaned->left.size(), 1U);
  EXPECT_TRUE(cleaned->left[0].starts_with(copy.name + " stays: ")) << cleaned->left[0];
  cluster_.set([](FakeCluster& cluster) { cluster.forbidden = "GET "; });
  EXPECT_FALSE(clean_trials(client_, clock_, "lab", "train", Cleaning::all, stopper));
}

}  // namespace
}  // namespace assay::cluster
