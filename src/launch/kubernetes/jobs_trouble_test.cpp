// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/testing/fake_cluster.h"

#include <atomic>

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

}  // namespace
}  // namespace assay::launch
