// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/testing/fake_cluster.h"

#include <atomic>
#include <chrono>
#include <cstdlib>

#include <assay/launch/agents.h>

namespace assay::launch {
namespace {

using net::ServerRequest;
using net::ServerResponse;

constexpr const char* kEnded = R"({"terminated": {"exitCode": 0, "reason": "Completed"}})";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string all_of(const std::vector<NotMeasured>& notes) {
  std::string text;
  for (const auto& note : notes) text += note.what + ": " + note.why + "\n";
  return text;
}

/// Those whose method and path's end fit are answered with that status, so many times.
FakeCluster::Instead fails(const std::string& method, const std::string& end, int status,
                           int times) {
  return [=](const ServerRequest& request) mutable -> std::optional<ServerResponse> {
    const bool fits = request.method == method && request.path.ends_with(end);
    if (!fits || times-- <= 0) return std::nullopt;
    return FakeCluster::json(R"({"kind": "Status", "message": "user cannot do it"})", status);
  };
}

class JobsInTrouble : public JobsTest {};

TEST_F(JobsInTrouble, an_api_server_that_is_away_while_the_app_starts_is_waited_for) {
  cluster.answer_instead(fails("GET", "/default/pods", 503, 3));
  const auto app = start(cluster.settings());
  EXPECT_TRUE(app) << app.error().message;
}

TEST_F(JobsInTrouble, an_account_that_may_not_look_is_told_at_once_and_leaves_no_job) {
  cluster.answer_instead(fails("GET", "/default/pods", 403, 1000));
  const auto app = start(cluster.settings());
  ASSERT_FALSE(app);
  EXPECT_EQ(app.error().message, "your account may not list pods in namespace default");
  EXPECT_EQ(cluster.asked("DELETE").size(), 1);
}

TEST_F(JobsInTrouble, a_job_that_may_have_been_made_is_deleted) {
  cluster.answer_instead(fails("POST", "/jobs", 504, 1));
  const auto app = start(cluster.settings());
  ASSERT_FALSE(app);
  EXPECT_EQ(cluster.asked("DELETE"),
            (std::vector<std::string>{
                "DELETE /apis/batch/v1/namespaces/default/jobs/assay-20260131-120000-7f3a-1"}));
  EXPECT_FALSE(has(app.error().message, "cleanup")) << app.error().message;
}

TEST_F(JobsInTrouble, a_job_that_a_request_sent_twice_has_made_is_deleted) {
  cluster.answer_instead(fails("POST", "/jobs", 409, 1));
  const auto app = start(cluster.settings());
  ASSERT_FALSE(app);
  EXPECT_EQ(cluster.asked("DELETE"),
            (std::vector<std::string>{
                "DELETE /apis/batch/v1/namespaces/default/jobs/assay-20260131-120000-7f3a-1"}));
}

TEST_F(JobsInTrouble, a_job_that_a_failed_start_leaves_is_told) {
  cluster.set_state(R"({"waiting": {"reason": "ErrImagePull", "message": "not found"}})");
  cluster.answer_instead(fails("DELETE", "-1", 403, 1000));
  const auto app = start(cluster.settings());
  ASSERT_FALSE(app);
  EXPECT_TRUE(has(app.error().message,
                  "ErrImagePull: not found; Job assay-20260131-120000-7f3a-1 "
                  "could not be deleted"))
      << app.error().message;
}

TEST_F(JobsInTrouble, a_stop_is_said_again_until_it_is_heard) {
  cluster.answer_instead(fails("DELETE", "-1", 503, 2));
  auto app = start(cluster.settings());
  ASSERT_TRUE(app) << app.error().message;
  (*app)->stop(StopStep::interrupt);
  ASSERT_TRUE(ends(**app));
  EXPECT_EQ(cluster.asked("DELETE").size(), 3);
  EXPECT_FALSE((*app)->left_behind());
}

TEST_F(JobsInTrouble, a_job_that_cannot_be_deleted_for_a_moment_is_deleted_in_the_end) {
  auto app = start(cluster.settings());
  ASSERT_TRUE(app) << app.error().message;
  cluster.set_state(kEnded);
  ASSERT_TRUE(ends(**app));
  cluster.answer_instead(fails("DELETE", "-1", 503, 2));
  (*app)->release();
  EXPECT_FALSE((*app)->left_behind());
  EXPECT_EQ(cluster.asked("DELETE").size(), 3);
}

TEST_F(JobsInTrouble, a_pod_in_place_of_the_first_one_is_not_this_run) {
  auto app = start(cluster.settings());
  ASSERT_TRUE(app) << app.error().message;
  cluster.set_pods("pod-2", "agent-1");
  ASSERT_TRUE(ends(**app));
  const Exit exit = (*app)->release();
  EXPECT_FALSE(exit.code);
  EXPECT_TRUE(has(exit.detail, "its pod was deleted")) << exit.detail;
}

TEST_F(JobsInTrouble, an_account_that_may_not_look_any_more_gives_the_run_up) {
  auto settings = cluster.settings();
  settings.refusal_patience = Milliseconds(500);
  auto app = start(settings);
  ASSERT_TRUE(app) << app.error().message;
  // One that is there again, and away once more.
  cluster.answer_instead(
      [forbids = false](const ServerRequest& request) mutable -> std::optional<ServerResponse> {
        if (!request.path.ends_with("/default/pods")) return std::nullopt;
        forbids = !forbids;
        return FakeCluster::json("{}", forbids ? 403 : 503);
      });
  EXPECT_FALSE(ends(**app, Milliseconds(3500))) << "the server may come back";
  cluster.answer_instead(fails("GET", "/default/pods", 403, 1000));
  ASSERT_TRUE(ends(**app, Milliseconds(30'000)));
  const Exit exit = (*app)->release();
  EXPECT_FALSE(exit.code);
  EXPECT_EQ(exit.detail,
            "given up: your account may not list pods in namespace default; its Job is deleted");
}

TEST_F(JobsInTrouble, an_account_that_may_not_look_any_more_is_told_the_end_by_the_agent) {
  auto settings = cluster.settings();
  settings.refusal_patience = Milliseconds(500);
  auto app = start(settings);
  ASSERT_TRUE(app) << app.error().message;
  cluster.answer_instead(fails("GET", "/default/pods", 403, 1000));
  cluster.set_state(kEnded);
  ASSERT_TRUE(ends(**app, Milliseconds(30'000)));
  EXPECT_EQ((*app)->release().detail,
            "ended; its exit code is not known; the cluster says: your account may not list pods "
            "in namespace default");
}

TEST_F(JobsInTrouble, an_agent_that_goes_on_in_another_pod_is_found_again) {
  auto app = start(cluster.settings());
  ASSERT_TRUE(app) << app.error().message;
  const auto probes = (*app)->remote_probes();
  cluster.set_pods("pod-1", "agent-2");
  EXPECT_FALSE(ends(**app, Milliseconds(1300)));
  cluster.set_state(kEnded);
  ASSERT_TRUE(ends(**app));
  (*app)->release();
  EXPECT_FALSE(has(all_of((*app)->notes()), "did not answer")) << all_of((*app)->notes());
  EXPECT_FALSE(has(all_of((*app)->notes()), "end of the app"));
}

TEST_F(JobsInTrouble, a_log_that_breaks_off_goes_on_without_a_line_twice) {
  std::atomic<int> streams = 0;
  cluster.answer_instead([&](const ServerRequest& request) -> std::optional<ServerResponse> {
    if (!request.path.ends_with("/log")) return std::nullopt;
    ++streams;
    if (streams == 2) return FakeCluster::json("{}", 503);
    return FakeCluster::json(streams == 1 ? "one\n" : "one\ntwo\n");
  });
  auto app = start(cluster.settings());
  ASSERT_TRUE(app) << app.error().message;
  // The first stream ends while the app goes on.
  for (int i = 0; i < 300 && log() != "one\ntwo\n"; ++i)
    ASSERT_FALSE(ends(**app, Milliseconds(100)));
  EXPECT_EQ(log(), "one\ntwo\n");
  cluster.set_state(kEnded);
  ASSERT_TRUE(ends(**app));
  (*app)->release();
  EXPECT_EQ(log(), "one\ntwo\n");
  EXPECT_FALSE(has(all_of((*app)->notes()), "output")) << all_of((*app)->notes());
}

TEST_F(JobsInTrouble, a_log_that_its_node_began_anew_is_told) {
  std::atomic<int> streams = 0;
  cluster.answer_instead([&](const ServerRequest& request) -> std::optional<ServerResponse> {
    if (!request.path.ends_with("/log")) return std::nullopt;
    return FakeCluster::json(++streams == 1 ? "one\ntwo\nthree\n" : "four\n");
  });
  auto app = start(cluster.settings());
  ASSERT_TRUE(app) << app.error().message;
  for (int i = 0; i < 300 && streams < 2; ++i) ASSERT_FALSE(ends(**app, Milliseconds(100)));
  cluster.set_state(kEnded);
  ASSERT_TRUE(ends(**app));
  (*app)->release();
  EXPECT_TRUE(has(all_of((*app)->notes()),
                  "app's output: the node has begun a new log: a part of it is missing"))
      << all_of((*app)->notes());
}

TEST_F(JobsInTrouble, a_plan_asks_nobody) {
  const auto jobs = plan_jobs({});
  EXPECT_TRUE(jobs->obstacles(request().target).empty());
  EXPECT_EQ(jobs->node(), "");
  Target without_image = request().target;
  without_image.image.clear();
  EXPECT_FALSE(jobs->obstacles(without_image).empty()) << "what is wrong in any cluster is told";
}

TEST_F(JobsInTrouble, a_log_that_may_not_be_read_is_told) {
  cluster.answer_instead(fails("GET", "/log", 403, 1000));
  auto app = start(cluster.settings());
  ASSERT_TRUE(app) << app.error().message;
  cluster.set_state(kEnded);
  ASSERT_TRUE(ends(**app));
  (*app)->release();
  EXPECT_TRUE(has(all_of((*app)->notes()), "your account may not get pods/log"))
      << all_of((*app)->notes());
}

TEST_F(JobsInTrouble, another_session_on_the_node_is_told) {
  cluster.others = R"({"metadata": {"name": "p2", "namespace": "default", "uid": "p2",
    "labels": {"assay.dev/session": "20260131-115900-0001"}}, "spec": {"nodeName": "n1"},
    "status": {"phase": "Running"}})";
  auto app = start(cluster.settings());
  ASSERT_TRUE(app) << app.error().message;
  EXPECT_TRUE(
      has(all_of((*app)->notes()), "device lock: session 20260131-115900-0001 ran beside it on n1"))
      << all_of((*app)->notes());
}

TEST_F(JobsInTrouble, an_app_that_is_given_up_is_told_as_such) {
  auto app = start(cluster.settings());
  ASSERT_TRUE(app) << app.error().message;
  EXPECT_EQ((*app)->release().detail, "still running when it was given up; its Job is deleted");
}

TEST_F(JobsInTrouble, what_no_node_could_ever_hold_is_refused_before_anything_is_made) {
  const auto jobs = open_jobs(cluster.settings());
  Target large = request().target;
  large.limits.cpus = 8;
  const auto found = jobs->obstacles(large);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].key, "resources");
  EXPECT_EQ(found[0].error.kind, ErrorKind::environment);
  EXPECT_TRUE(has(found[0].error.message, "--cpus 8: the only suitable node, n1, has 4"))
      << found[0].error.message;
  EXPECT_EQ(jobs->node(), "");
  EXPECT_TRUE(cluster.asked("POST").empty());
  EXPECT_TRUE(jobs->obstacles(request().target).empty()) << "the other targets are not to blame";
}

TEST_F(JobsInTrouble, what_daemon_sets_have_on_the_node_is_not_given_to_others) {
  cluster.answer_instead(
      [](const net::ServerRequest& request) -> std::optional<net::ServerResponse> {
        if (request.path != "/api/v1/pods") return std::nullopt;
        EXPECT_EQ(request.parameter("fieldSelector"), "spec.nodeName=n1");
        return FakeCluster::json(R"({"metadata": {"resourceVersion": "7"}, "items": [{
        "metadata": {"name": "logs", "namespace": "kube-system", "uid": "d", "ownerReferences": [
          {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "logs", "uid": "s", "controller": true}]},
        "spec": {"nodeName": "n1", "containers": [
          {"name": "logs", "resources": {"requests": {"cpu": "100m"}}}]},
        "status": {"phase": "Running"}}]})");
      });
  const auto jobs = open_jobs(cluster.settings());
  Target target = request().target;
  target.limits.cpus = 4;
  const auto found = jobs->obstacles(target);
  ASSERT_EQ(found.size(), 1);
  EXPECT_TRUE(has(found[0].error.message,
                  "--cpus 4: the only suitable node, n1, has 3.9 beside its DaemonSets"))
      << found[0].error.message;
  target.limits.cpus = 3.9;
  EXPECT_TRUE(jobs->obstacles(target).empty());
}

/// Beside the first one, which has 4 CPUs.
void add_larger_node(FakeCluster& cluster) {
  cluster.nodes =
      FakeCluster::node_object("n1", "4") + ", " + FakeCluster::node_object("n2", "7500m");
  cluster.agents_nodes = {"n1", "n2"};
}

TEST_F(JobsInTrouble, a_later_target_that_needs_a_larger_node_moves_all_there) {
  add_larger_node(cluster);
  cluster.has_pod = false;
  const auto jobs = open_jobs(cluster.settings());
  Target target = request().target;
  EXPECT_TRUE(jobs->obstacles(target).empty());
  EXPECT_EQ(jobs->node(), "n1");
  target.limits.cpus = 7.5;
  EXPECT_TRUE(jobs->obstacles(target).empty());
  EXPECT_EQ(jobs->node(), "n2");
  target.limits.cpus = 4;
  EXPECT_TRUE(jobs->obstacles(target).empty());
  EXPECT_EQ(jobs->node(), "n2");
}

TEST_F(JobsInTrouble, targets_that_do_not_fit_ask_the_cluster_nothing_more) {
  add_larger_node(cluster);
  const auto jobs = open_jobs(cluster.settings());
  const auto refused_with = [&](double cpus) {
    Target target = request().target;
    target.limits.cpus = cpus;
    return !jobs->obstacles(target).empty();
  };
  EXPECT_TRUE(refused_with(8));
  const size_t asked_first = cluster.asked("GET").size();
  EXPECT_TRUE(refused_with(9));
  EXPECT_EQ(cluster.asked("GET").size(), asked_first) << "nothing was new";
  EXPECT_FALSE(refused_with(7));
  EXPECT_EQ(jobs->node(), "n2");
  EXPECT_EQ(cluster.asked("GET").size(), asked_first + 2) << "the agent, and what its node is";
  for (int more = 0; more < 30; ++more) EXPECT_TRUE(refused_with(8 + more));
  EXPECT_EQ(jobs->node(), "n2") << "the others are not to blame";
  EXPECT_EQ(jobs->device().hostname, "n2");
  EXPECT_FALSE(refused_with(4));
  EXPECT_EQ(cluster.asked("GET").size(), asked_first + 2);
}

TEST_F(JobsInTrouble, a_larger_node_whose_agent_does_not_answer_leaves_the_earlier_one) {
  add_larger_node(cluster);
  cluster.has_pod = false;
  const auto jobs = open_jobs(cluster.settings());
  Target target = request().target;
  EXPECT_TRUE(jobs->obstacles(target).empty());
  EXPECT_EQ(jobs->node(), "n1");
  cluster.answer_instead(fails("GET", "/proxy/api/v1/apps", 403, 1000));
  target.limits.cpus = 7;
  const auto found = jobs->obstacles(target);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].key, "runtime");
  const size_t asked = cluster.asked("GET").size();
  EXPECT_EQ(jobs->obstacles(target).size(), 1);
  EXPECT_EQ(cluster.asked("GET").size(), asked) << "it was asked already";
  EXPECT_EQ(jobs->node(), "n1");
  target.limits.cpus = 4;
  EXPECT_TRUE(jobs->obstacles(target).empty());
}

TEST_F(JobsInTrouble, a_cluster_that_refuses_is_asked_once_for_all_targets) {
  cluster.answer_instead(fails("GET", "/api/v1/nodes", 403, 1000));
  const auto jobs = open_jobs(cluster.settings());
  for (int target = 0; target < 3; ++target) {
    const auto found = jobs->obstacles(request().target);
    ASSERT_EQ(found.size(), 1);
    EXPECT_TRUE(has(found[0].error.message, "list and watch nodes")) << found[0].error.message;
  }
  EXPECT_EQ(cluster.asked("GET").size(), 1);
}

TEST_F(JobsInTrouble, an_agent_that_crashes_is_told_as_such_and_not_as_missing) {
  cluster.agents_status =
      R"({"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}],
    "containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}}]})";
  const auto app = start(cluster.settings());
  ASSERT_FALSE(app);
  EXPECT_TRUE(has(app.error().message,
                  "its pod agent-1 on n1 is not ready: CrashLoopBackOff: back-off; see `kubectl -n "
                  "assay logs agent-1`"))
      << app.error().message;
  const SystemClock clock;
  const auto watch = open_agents(cluster.settings(), clock)->watch("n1", kId);
  ASSERT_FALSE(watch);
  EXPECT_TRUE(has(watch.error().message, "CrashLoopBackOff")) << watch.error().message;
}

/// A cluster that one logs in to by a program whose answers last for no time; from some moment on
/// it hangs.
class HangingLogin {
 public:
  explicit HangingLogin(const std::string& server) {
    std::string name = (std::filesystem::temp_directory_path() / "assay-login-XXXXXX").native();
    folder_ = ::mkdtemp(name.data());
    std::ofstream(folder_ / "login") << fmt::format(R"(#!/bin/sh
cd {}
if test -e hang; then touch hangs; exec sleep 1000; fi
echo '{{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
  "status": {{"token": "w0rd", "expirationTimestamp": "2020-01-01T00:00:00Z"}}}}'
)",
                                                    folder_.native());
    std::filesystem::permissions(folder_ / "login", std::filesystem::perms::owner_all);
    std::ofstream(folder_ / "config") << fmt::format(R"(
current-context: a
contexts: [{{name: a, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "{}"}}}}]
users: [{{name: u, user: {{exec: {{apiVersion: client.authentication.k8s.io/v1, command: "{}/login"}}}}}}]
)",
                                                     server, folder_.native());
  }
  HangingLogin(const HangingLogin&) = delete;
  HangingLogin& operator=(const HangingLogin&) = delete;
  ~HangingLogin() { std::filesystem::remove_all(folder_); }

  kubeapi::Access access() const { return kubeapi::read_kubeconfig(folder_ / "config").value(); }
  void hang() const { std::ofstream(folder_ / "hang"); }
  bool hangs() const { return std::filesystem::exists(folder_ / "hangs"); }

 private:
  std::filesystem::path folder_;
};

TEST_F(JobsInTrouble, a_watch_that_is_not_wanted_any_more_does_not_wait_for_a_login) {
  auto settings = cluster.settings();
  const HangingLogin login(settings.access.endpoint.base);
  settings.access = login.access();
  const SystemClock clock;
  const auto agents = open_agents(settings, clock, [&] { return !login.hangs(); });
  const auto watch = agents->watch("n1", kId);
  ASSERT_TRUE(watch) << watch.error().message;
  MemorySeries kept;
  ASSERT_TRUE((*watch)->look(kept));
  login.hang();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE((*watch)->look(kept));
  EXPECT_FALSE(agents->watch("n1", kId));
  EXPECT_EQ(agents->device("n1").hostname, "n1");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

}  // namespace
}  // namespace assay::launch
