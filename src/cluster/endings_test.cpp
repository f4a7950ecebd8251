// SPDX-License-Identifier: Apache-2.0
#include "endings.h"

#include "testing/api_server.h"
#include "testing/small_cluster.h"

#include <fmt/format.h>

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using kubeapi::testing::answer;
using kubeapi::testing::ApiServer;
using kubeapi::testing::path_of;
using testing::SmallCluster;

std::string job_that_says(const char* type, const char* status, const char* uid = "job-1") {
  return fmt::format(R"({{"metadata": {{"name": "train", "namespace": "lab", "uid": "{}"}},
      "status": {{"conditions": [{{"type": "Running", "status": "True"}},
                                 {{"type": "{}", "status": "{}"}}]}}}})",
                     uid, type, status);
}

/// A job whose workers have both failed.
struct Failing {
  explicit Failing(std::vector<std::string> answers) : server(std::move(answers)) {
    cluster.round();
    for (auto& pod : cluster.seen.pods) pod.over = pod.failed = true;
    cluster.round();
  }
  const JobState& job() { return cluster.tracker.jobs().at("job-1"); }
  bool is_gone() { return job().gone; }
  bool is_gone_when_asked() {
    ask_for_ends(cluster.tracker, client, limiter, cluster.now, stopper);
    return is_gone();
  }

  SmallCluster cluster;
  ApiServer server;
  const ManualClock clock{cluster.now};
  kubeapi::Client client{server.access()};
  kubeapi::RateLimiter limiter{clock, {.per_second = 1, .burst = 3}};
  net::Stopper stopper;
};

TEST(Endings, a_job_that_says_that_it_ended_is_over_at_once) {
  for (const char* type : {"Complete", "Failed", "Succeeded"}) {
    Failing run({answer(200, job_that_says(type, "True"))});
    EXPECT_FALSE(run.is_gone());
    EXPECT_TRUE(run.is_gone_when_asked()) << type;
    EXPECT_TRUE(run.job().unsaved);
    EXPECT_TRUE(path_of(run.server.asked().at(0)).ends_with("/lab/mpijobs/train"));
    run.cluster.round();
    EXPECT_TRUE(run.is_gone()) << "it stays so";
    EXPECT_TRUE(run.cluster.tracker.unsure_jobs().empty());
    run.cluster.seen.pods[0].over = run.cluster.seen.pods[0].failed = false;
    run.cluster.round();
    EXPECT_FALSE(run.is_gone()) << "it has a worker again";
  }
}

TEST(Endings, a_job_that_does_not_say_so_may_go_on) {
  Failing run({answer(200, job_that_says("Failed", "False")),
               answer(200, job_that_says("Restarting", "True")), answer(403, "{}")});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(run.is_gone_when_asked()) << i;
  EXPECT_FALSE(run.is_gone_when_asked());
  EXPECT_EQ(run.server.asked().size(), 3u) << "no faster than the rate";
}

TEST(Endings, a_job_that_was_deleted_is_over) {
  EXPECT_TRUE(Failing({answer(404, "{}")}).is_gone_when_asked());
  EXPECT_TRUE(
      Failing({answer(200, job_that_says("Running", "True", "another"))}).is_gone_when_asked());
}

TEST(Endings, a_server_that_is_away_is_not_waited_for_by_each_job) {
  Failing run({answer(500, "{}"), answer(200, job_that_says("Failed", "True"))});
  auto pod = run.cluster.seen.pods[0];
  pod.object.name = pod.object.uid = "other";
  pod.job->uid = "job-2";
  run.cluster.seen.pods.push_back(pod);
  run.cluster.round();
  ASSERT_EQ(run.cluster.tracker.unsure_jobs().size(), 2u);
  EXPECT_FALSE(run.is_gone_when_asked());
  EXPECT_EQ(run.server.asked().size(), 1u);
  const auto first = run.cluster.tracker.unsure_jobs().back();
  EXPECT_EQ(run.cluster.tracker.jobs().at(first).asked, run.cluster.now) << "the other is next";
}

TEST(Endings, a_job_with_a_worker_is_not_asked) {
  Failing run({});
  run.cluster.seen.pods[0].over = false;
  run.cluster.round();
  EXPECT_TRUE(run.cluster.tracker.unsure_jobs().empty());
}

TEST(Endings, what_is_no_object_says_nothing) {
  for (const char* text : {"", "[]", R"({"status": {"conditions": {"Failed": "True"}}})",
                           R"({"status": {"conditions": [5, {"type": 1}]}})"})
    EXPECT_FALSE(says_ended(text)) << text;
}

}  // namespace
}  // namespace assay::cluster
