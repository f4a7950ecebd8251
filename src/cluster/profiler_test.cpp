// SPDX-License-Identifier: Apache-2.0
#include "testing/history_fixture.h"
#include "testing/prometheus_stand_in.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <assay/cluster/jobs.h>
#include <assay/cluster/profiler.h>
#include <assay/net/http_server.h>
#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

/// Where nobody answers.
ProfilerSettings nowhere() {
  ProfilerSettings settings;
  settings.cluster.endpoint.base = "http://127.0.0.1:1";
  settings.prometheus.url = "http://127.0.0.1:1";
  settings.listen = "";
  settings.patience = Milliseconds(300);
  return settings;
}

/// Paths and what they answer.
using Answers = std::map<std::string, std::pair<int, std::string>>;

/// Answers some requests in its own way.
using Hook = std::function<std::optional<net::ServerResponse>(const net::ServerRequest&)>;

std::string list_of(const std::string& items) {
  return R"({"metadata": {"resourceVersion": "7"}, "items": [)" + items + "]}";
}

/// Tells of no nodes and no pods, and lets nobody see anything else, unless told to.
class EmptyCluster {
 public:
  explicit EmptyCluster(Answers answers = {}, Hook hook = {})
      : answers_(std::move(answers)),
        hook_(std::move(hook)),
        server_(loop_, [this](const net::ServerRequest& r) { return answer(r); }) {
    port_ = server_.listen(std::string("127.0.0.1:0")).value();
    thread_ = std::jthread([this] { loop_.run(); });
  }
  EmptyCluster(const EmptyCluster&) = delete;
  EmptyCluster& operator=(const EmptyCluster&) = delete;
  ~EmptyCluster() {
    loop_.stop();
    thread_.join();
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }

 private:
  net::ServerResponse answer(const net::ServerRequest& request) const {
    if (hook_)
      if (auto told = hook_(request)) return *std::move(told);
    net::ServerResponse response;
    response.content_type = "application/json";
    if (const auto told = answers_.find(request.path); told != answers_.end()) {
      response.status = told->second.first;
      if (request.parameter("watch").empty()) response.body = told->second.second;
      return response;
    }
    const bool open = request.path == "/api/v1/nodes" || request.path == "/api/v1/pods";
    response.status = open ? 200 : 403;
    if (open && request.parameter("watch").empty()) response.body = list_of("");
    return response;
  }

  const Answers answers_;
  const Hook hook_;
  boost::asio::io_context loop_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      loop_.get_executor()};
  net::HttpServer server_;
  int port_ = 0;
  std::jthread thread_;
};

TEST(Profiler, owners_that_nobody_lets_us_list_are_not_waited_for_for_ever) {
  const EmptyCluster cluster;
  auto settings = nowhere();
  settings.cluster.endpoint.base = cluster.url();
  settings.rounds = 1;
  settings.patience = Milliseconds(60'000);
  settings.owners_patience = Milliseconds(300);
  net::Stopper stopper;
  std::string said;
  const auto done = profile(
      settings, [&](const std::string& sentence) { said += sentence + "\n"; }, stopper);
  ASSERT_FALSE(done) << "there is no Prometheus either";
  EXPECT_TRUE(done.error().message.starts_with("nothing was read in the round: "))
      << done.error().message;
  EXPECT_NE(said.find("replicasets.apps"), std::string::npos) << said;
}

TEST(Profiler, rounds_that_are_counted_end_with_what_came_of_them) {
  const EmptyCluster cluster;
  const testing::Prometheus prometheus({});
  auto settings = nowhere();
  settings.cluster.endpoint.base = cluster.url();
  settings.prometheus = prometheus.access();
  settings.rounds = 1;
  settings.patience = Milliseconds(60'000);
  settings.owners_patience = Milliseconds(0);
  net::Stopper stopper;
  std::string last;
  ASSERT_TRUE(profile(
      settings, [&](const std::string& sentence) { last = sentence; }, stopper));
  EXPECT_EQ(last, "1 round: 0 nodes, 0 pods and 0 jobs seen, 0 patches written");
}

TEST(Profiler, what_changed_is_written_also_where_reading_takes_longer_than_a_round) {
  static constexpr Milliseconds kRound{1000};  // in which one object is written, on any machine
  std::atomic<bool> asked = false;
  const EmptyCluster cluster(
      {{"/api/v1/nodes", {200, list_of(R"({"metadata": {"name": "n1", "uid": "1"}})")}},
       {"/api/v1/nodes/n1", {200, R"({"metadata": {"name": "n1", "uid": "1"}})"}}},
      [&](const net::ServerRequest& request) -> std::optional<net::ServerResponse> {
        if (request.path != "/api/v1/query") return std::nullopt;
        // The first is as long as two rounds.
        if (!asked.exchange(true)) std::this_thread::sleep_for(2 * kRound);
        net::ServerResponse response;
        response.body = testing::vector_of({});
        return response;
      });
  auto settings = nowhere();
  settings.cluster.endpoint.base = settings.prometheus.url = cluster.url();
  settings.interval = kRound;
  settings.rounds = 1;
  settings.patience = Milliseconds(60'000);
  settings.owners_patience = Milliseconds(0);
  net::Stopper stopper;
  std::string last;
  ASSERT_TRUE(profile(
      settings, [&](const std::string& sentence) { last = sentence; }, stopper));
  EXPECT_EQ(last, "1 round: 1 node, 0 pods and 0 jobs seen, 1 patch written");
}

/// A history with a job at work, an MPIJob of the cluster "one".
class ProfilerHistory : public testing::HistoryTest {
 protected:
  ProfilerHistory() {
    testing::Restart before(*shelf_, "one");
    EXPECT_TRUE(before.round() && before.save());
  }
  /// Whether the job has ended, after a profiler has looked at the cluster once; what it said.
  std::pair<bool, std::string> ended_in(const Answers& answers,
                                        Milliseconds owners_patience = Milliseconds(0)) {
    const EmptyCluster cluster(answers);
    const testing::Prometheus prometheus({});
    auto settings = nowhere();
    settings.cluster.endpoint.base = cluster.url();
    settings.prometheus = prometheus.access();
    settings.history = folder_ / "h.db";
    settings.rounds = 1;
    settings.patience = Milliseconds(60'000);
    settings.owners_patience = owners_patience;
    net::Stopper stopper;
    std::string said;
    EXPECT_TRUE(profile(
        settings, [&](const std::string& sentence) { said += sentence + "\n"; }, stopper));
    return {has_ended(), said};
  }
  bool has_ended() const {
    const auto jobs = *list_jobs(*shelf_);
    return std::find_if(jobs.begin(), jobs.end(),
                        [](const JobSummary& job) { return job.name == "train"; })
        ->gone;
  }

  static constexpr const char* kSystem = "/api/v1/namespaces/kube-system";
  static std::pair<int, std::string> is(const std::string& uid) {
    return {200, R"({"metadata": {"name": "kube-system", "uid": ")" + uid + "\"}}"};
  }
};

TEST_F(ProfilerHistory, jobs_are_ended_in_their_own_cluster_alone) {
  EXPECT_FALSE(ended_in({{kSystem, is("another")}}).first);
  const auto [ended, said] = ended_in({});
  EXPECT_FALSE(ended);
  EXPECT_NE(said.find("clusters cannot be told apart: "), std::string::npos) << said;
  EXPECT_NE(said.find("let its account get namespaces"), std::string::npos) << said;
  EXPECT_TRUE(ended_in({{kSystem, is("one")}}).first);
}

std::string pod_of(const std::string& name_space, const std::string& group,
                   const std::string& owner) {
  return fmt::format(
      R"({{"metadata": {{"name": "pod-0", "namespace": "{0}", "uid": "pod-{2}",
  "ownerReferences": [{{"apiVersion": "{1}/v1", "kind": "MPIJob", "name": "train",
                       "uid": "{2}", "controller": true}}]}}, "spec": {{}}, "status": {{}}}})",
      name_space, group, owner);
}

TEST_F(ProfilerHistory, jobs_are_not_ended_while_owners_of_pods_have_no_answer) {
  Answers answers = {{kSystem, is("one")},
                     {"/api/v1/pods", {200, list_of(pod_of("lab", "kubeflow.org", "job-1"))}},
                     {"/apis/kubeflow.org/v1", {503, "{}"}}};
  EXPECT_FALSE(ended_in(answers).first);
  answers["/api/v1/pods"].second = list_of("");
  EXPECT_TRUE(ended_in(answers).first);
}

TEST_F(ProfilerHistory, an_owner_without_an_answer_hides_no_job_of_another_namespace) {
  const auto elsewhere = pod_of("office", "example.com", "other");
  Answers answers = {
      {kSystem, is("one")},
      {"/api/v1/pods", {200, list_of(pod_of("lab", "kubeflow.org", "job-1") + "," + elsewhere)}},
      {"/apis/example.com/v1", {503, "{}"}},
      {"/apis/kubeflow.org/v1",
       {200, R"({"groupVersion": "kubeflow.org/v1", "resources": [{"name": "mpijobs",
                 "kind": "MPIJob", "namespaced": true}]})"}},
      {"/apis/kubeflow.org/v1/namespaces/lab/mpijobs/train",
       {200, R"({"metadata": {"name": "train", "namespace": "lab", "uid": "job-1"}})"}}};
  EXPECT_FALSE(ended_in(answers).first) << "it is there";
  answers["/api/v1/pods"].second = list_of(elsewhere);
  EXPECT_TRUE(ended_in(answers).first);
}

TEST_F(ProfilerHistory, a_job_that_says_that_it_failed_has_ended) {
  auto pod = pod_of("lab", "kubeflow.org", "job-1");
  pod.replace(pod.rfind("{}"), 2, R"({"phase": "Failed"})");
  Answers answers = {{kSystem, is("one")},
                     {"/api/v1/pods", {200, list_of(pod)}},
                     {"/apis/kubeflow.org/v1",
                      {200, R"({"groupVersion": "kubeflow.org/v1", "resources": [{"name": "mpijobs",
                 "kind": "MPIJob", "namespaced": true}]})"}}};
  for (const bool failed : {false, true}) {
    answers["/apis/kubeflow.org/v1/namespaces/lab/mpijobs/train"] = {
        200, fmt::format(R"({{"metadata": {{"name": "train", "namespace": "lab", "uid": "job-1"}},
             "status": {{"conditions": [{{"type": "Failed", "status": "{}"}}]}}}})",
                         failed ? "True" : "False")};
    EXPECT_EQ(ended_in(answers).first, failed);
  }
}

TEST_F(ProfilerHistory, jobs_are_not_ended_while_what_is_above_their_pods_has_not_been_told) {
  const auto child = R"({"metadata": {"name": "train-0", "namespace": "lab", "uid": "child"}})";
  const auto pod = R"({"metadata": {"name": "pod-0", "namespace": "lab", "uid": "p",
      "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train-0",
                           "uid": "child", "controller": true}]}})";
  constexpr const char* kJobs = "/apis/batch/v1/jobs";
  Answers answers = {{kSystem, is("one")}, {"/api/v1/pods", {200, list_of(pod)}}};
  for (const char* kind : {"replicasets", "deployments", "statefulsets"})
    answers[std::string("/apis/apps/v1/") + kind] = {200, list_of("")};
  answers[kJobs] = {503, "{}"};
  EXPECT_FALSE(ended_in(answers).first) << "the job may have made that one";
  answers[kJobs] = {200, list_of(child)};
  EXPECT_TRUE(ended_in(answers, Milliseconds(60'000)).first);
}

/// A Prometheus that goes away after the first reading, and a lease that is free from then on.
class GoneAfterOne {
 public:
  std::optional<net::ServerResponse> operator()(const net::ServerRequest& request) {
    net::ServerResponse response;
    response.content_type = "application/json";
    if (request.path == "/api/v1/query") return answer_query(request, std::move(response));
    if (request.path.find("/leases") == std::string::npos) return std::nullopt;
    response.status = 404;
    response.body = "{}";
    if (request.method == "POST") {
      response.status = 201;
      response.body = R"({"metadata": {"resourceVersion": "1"}, "spec": {"holderIdentity": "us"}})";
    } else if (request.method == "GET") {
      response.later = [this, response] {
        is_gone_.wait();
        return response;
      };
    }
    return response;
  }

 private:
  std::optional<net::ServerResponse> answer_query(const net::ServerRequest& request,
                                                  net::ServerResponse response) {
    const auto query = request.parameter("query");
    response.body = testing::vector_of({});
    if (query.find("count by (__name__)") != std::string::npos)
      response.body = testing::vector_of({{R"({"__name__": "node_cpu_seconds_total"})", 1}});
    if (query.find("rate(node_cpu_seconds_total") == std::string::npos) return response;
    if (++readings_ == 1) return response;
    response.status = 503;
    response.body.clear();
    if (readings_ == 2) gone_.set_value();
    return response;
  }

  int readings_ = 0;
  std::promise<void> gone_;
  const std::shared_future<void> is_gone_ = gone_.get_future().share();
};

TEST_F(ProfilerHistory, who_takes_over_ends_no_job_by_an_old_picture) {
  net::Stopper stopper;
  GoneAfterOne gone;
  const EmptyCluster cluster(
      {{kSystem, is("one")},
       {"/api/v1/nodes", {200, list_of(R"({"metadata": {"name": "n1", "uid": "node-1"}})")}}},
      [&](const net::ServerRequest& request) {
        // It writes behind all else that it does in a round.
        if (request.method == "PATCH") stopper.stop();
        return gone(request);
      });
  auto settings = nowhere();
  settings.cluster.endpoint.base = settings.prometheus.url = cluster.url();
  settings.history = folder_ / "h.db";
  settings.lease_namespace = "assay";
  settings.identity = "us";
  settings.interval = Milliseconds(200);
  settings.owners_patience = Milliseconds(0);
  EXPECT_TRUE(profile(
      settings, [](const std::string&) {}, stopper));
  EXPECT_FALSE(has_ended()) << "it may have begun since";
}

TEST(Profiler, rounds_that_are_counted_end_without_an_api_server) {
  auto settings = nowhere();
  settings.rounds = 1;
  net::Stopper stopper;
  const auto done = profile(
      settings, [](const std::string&) {}, stopper);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::environment);
  EXPECT_NE(
      done.error().message.find("the cluster did not tell of its nodes and pods within 300 ms: "),
      std::string::npos)
      << done.error().message;
  EXPECT_NE(done.error().message.find("127.0.0.1:1"), std::string::npos) << done.error().message;
}

TEST(Profiler, without_an_end_it_says_that_it_goes_on) {
  net::Stopper stopper;
  std::multiset<std::string> said;
  const auto tell = [&](const std::string& sentence) {
    said.insert(sentence);
    if (sentence.find("asked again until they are") != std::string::npos) stopper.stop();
  };
  EXPECT_TRUE(profile(nowhere(), tell, stopper));
  EXPECT_TRUE(stopper.stopped());
  for (const auto& sentence : said) EXPECT_EQ(said.count(sentence), 1) << sentence;
}

}  // namespace
}  // namespace assay::cluster
