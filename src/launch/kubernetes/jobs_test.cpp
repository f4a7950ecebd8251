// SPDX-License-Identifier: Apache-2.0
#include "docker/container.h"
#include "kubernetes/job_manifest.h"
#include "process/testing.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <thread>

#include <assay/base/mutex.h>
#include <assay/launch/jobs.h>
#include <assay/net/http_server.h>
#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using Plain = nlohmann::json;
using std::chrono::seconds;

const std::string kId(64, 'c');
constexpr auto kAhead = seconds(90);  ///< the node's clock

/// A cluster of one node with an agent, which runs one Job as a test wants it.
class FakeCluster {
 public:
  FakeCluster() : server_(loop_, [this](const net::ServerRequest& r) { return answer(r); }) {
    port_ = server_.listen(std::string("127.0.0.1:0")).value();
    thread_ = std::jthread([this] { loop_.run(); });
  }
  FakeCluster(const FakeCluster&) = delete;
  FakeCluster& operator=(const FakeCluster&) = delete;
  ~FakeCluster() {
    loop_.stop();
    thread_.join();
  }

  JobSettings settings() const {
    JobSettings settings;
    settings.access.endpoint.base = fmt::format("http://127.0.0.1:{}", port_);
    return settings;
  }
  std::vector<std::string> asked(const std::string& method) const {
    const Lock lock(mutex_);
    std::vector<std::string> found;
    for (const auto& each : asked_)
      if (each.starts_with(method + " ")) found.push_back(each);
    return found;
  }
  Plain job() const {
    const Lock lock(mutex_);
    return job_;
  }
  void set_state(const std::string& state) {
    const Lock lock(mutex_);
    state_ = state;
  }

  // To be set before anything is asked.
  bool has_agent = true;
  bool has_pod = true;
  std::string wanted_token;
  std::string event = "nothing";
  std::string jobs = "[]";

 private:
  static net::ServerResponse json(const std::string& body, int status = 200) {
    net::ServerResponse response;
    response.status = status;
    response.content_type = "application/json";
    response.body = body;
    return response;
  }

  net::ServerResponse answer(const net::ServerRequest& request) {
    const Lock lock(mutex_);
    asked_.push_back(fmt::format("{} {}", request.method, request.path));
    const std::string& path = request.path;
    if (request.method == "POST") return create(request);
    if (request.method == "DELETE") return remove();
    if (path == "/api/v1/nodes")
      return json(
          fmt::format(R"({{"metadata": {{"resourceVersion": "7"}}, "items": [{}]}})", kNode));
    if (path == "/api/v1/nodes/n1") return json(kNode);
    if (path.ends_with("/proxy/api/v1/apps")) return agent(request);
    if (path == "/api/v1/namespaces/assay/pods") return agents();
    if (path.ends_with("/secrets/assay-reader"))
      return json(R"({"data": {"token": "c2VjcmV0LXRva2Vu"}})");  // secret-token
    if (path.ends_with("/events"))
      return json(fmt::format(
          R"({{"items": [{{"type": "Warning", "reason": "FailedCreate", "message": "{}"}}]}})",
          event));
    if (path.ends_with("/log")) return json("one\ntwo\n");
    if (path == "/apis/batch/v1/jobs")
      return json(fmt::format(R"({{"metadata": {{"resourceVersion": "7"}}, "items": {}}})", jobs));
    if (path.ends_with("/pods")) return pods();
    return json(R"({"kind": "Status"})", 404);
  }

  net::ServerResponse create(const net::ServerRequest& request) ASSAY_REQUIRES(mutex_) {
    job_ = Plain::parse(request.body);
    job_["metadata"]["uid"] = "u-1";
    return json(job_.dump(), 201);
  }
  net::ServerResponse remove() ASSAY_REQUIRES(mutex_) {
    has_pod_gone_ = true;
    return json(R"({"kind": "Status", "status": "Success"})");
  }
  net::ServerResponse agents() const {
    return json(fmt::format(R"({{"metadata": {{"resourceVersion": "7"}}, "items": [{}]}})",
                            has_agent ? R"({"metadata": {"name": "agent-1", "uid": "a"},
       "spec": {"nodeName": "n1"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}})"
                                      : ""));
  }
  net::ServerResponse agent(const net::ServerRequest& request) ASSAY_REQUIRES(mutex_) {
    if (!wanted_token.empty() && request.authorization != "Bearer " + wanted_token)
      return json(R"({"error": "this takes a token"})", 401);
    const Timestamp now = clock_.now() + kAhead;
    if (began_ == Timestamp()) began_ = now;
    const bool running = state_.find("terminated") == std::string::npos;
    std::string app;
    if (request.parameter("app") == kId)
      app = fmt::format(
          R"({{"container_id": "{}", "running": {}, "started_unix_ns": {}, "read_unix_ns": {},
              "totals": {{"cpu_usage_seconds_total": {}, "cpu_user_seconds_total": 1.5, "memory_bytes": 4096}}}})",
          kId, running, unix_ns(began_), unix_ns(now), assay::seconds(now - began_) * 2);
    return json(
        fmt::format(R"({{"schema": 1, "unix_ns": {}, "node": {{"name": "n1"}}, "apps": [{}]}})",
                    unix_ns(now), app));
  }
  net::ServerResponse pods() const ASSAY_REQUIRES(mutex_) {
    if (!has_pod || has_pod_gone_)
      return json(R"({"metadata": {"resourceVersion": "7"}, "items": []})");
    return json(fmt::format(
        R"({{"metadata": {{"resourceVersion": "7"}}, "items": [{{"metadata": {{"name": "pod-1", "uid": "p"}},
      "spec": {{"nodeName": "n1"}}, "status": {{"containerStatuses": [{{"containerID": "docker://{}", "state": {}}}]}}}}]}})",
        kId, state_));
  }

  static constexpr const char* kNode = R"({"metadata": {"name": "n1", "uid": "n"},
    "status": {"conditions": [{"type": "Ready", "status": "True"}], "capacity": {"cpu": "4", "memory": "1Gi"},
               "nodeInfo": {"kernelVersion": "6.1", "machineID": "m"}}})";

  mutable Mutex mutex_;
  SystemClock clock_;
  std::vector<std::string> asked_ ASSAY_GUARDED_BY(mutex_);
  Plain job_ ASSAY_GUARDED_BY(mutex_);
  std::string state_ ASSAY_GUARDED_BY(mutex_) =
      R"({"running": {"startedAt": "2026-01-31T12:00:02Z"}})";
  Timestamp began_ ASSAY_GUARDED_BY(mutex_);
  bool has_pod_gone_ ASSAY_GUARDED_BY(mutex_) = false;
  boost::asio::io_context loop_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      loop_.get_executor()};
  net::HttpServer server_;
  int port_ = 0;
  std::jthread thread_;
};

class JobsTest : public ::testing::Test {
 protected:
  Request request() {
    Request request;
    request.session_id = "20260131-120000-7f3a";
    request.run = 1;
    request.target.image = "waggle/app:1";
    request.target.runtime = "kubernetes";
    request.stdout_file =
        std::filesystem::temp_directory_path() / fmt::format("assay-jobs-test-{}.log", ::getpid());
    return request;
  }
  /// Chooses the node and starts.
  Result<std::unique_ptr<RunningApp>> start(JobSettings settings, Waiting waiting = {}) {
    const auto jobs = open_jobs(std::move(settings));
    const auto obstacles = jobs->obstacles(request().target);
    if (!obstacles.empty()) return fail(obstacles.front().error);
    jobs->while_wanted(std::move(waiting));
    return jobs->launcher()->start(request());
  }
  static bool ends(const RunningApp& app, Milliseconds patience = Milliseconds(10'000)) {
    pollfd waiting = {app.exit_fd(), POLLIN, 0};
    return ::poll(&waiting, 1, static_cast<int>(patience.count())) > 0;
  }
  FakeCluster cluster;
};

TEST_F(JobsTest, an_app_is_measured_by_its_nodes_agent_on_our_clock) {
  const SystemClock clock;
  auto app = start(cluster.settings());
  ASSERT_TRUE(app) << app.error().message;
  EXPECT_EQ((*app)->isolation(), "pod");
  ASSERT_TRUE((*app)->started());
  EXPECT_LT(std::abs(assay::seconds(*(*app)->started() - clock.now())), 5);
  const auto probes = (*app)->remote_probes();
  ASSERT_EQ(probes.size(), 1);
  EXPECT_FALSE(ends(**app, Milliseconds(1300)));
  EXPECT_FALSE((*app)->exited());
  cluster.set_state(R"({"terminated": {"exitCode": 3, "reason": "Error"}})");
  ASSERT_TRUE(ends(**app));
  EXPECT_TRUE((*app)->exited());
  MemorySeries kept;
  ASSERT_TRUE(probes[0]->sample(clock, kept));
  const Series* cpu = kept.find("cpu_usage_seconds_total");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->info.source, "agent on n1 (cgroup)");
  EXPECT_GE(cpu->values.size(), 3);
  EXPECT_NEAR(cpu->values.back(), assay::seconds(cpu->times.back() - cpu->times.front()) * 2, 0.1);
  const auto elsewhere = (*app)->elsewhere();
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->node, "n1");
  EXPECT_NEAR(assay::seconds(elsewhere->clock_offset), 90, 0.05);
  EXPECT_LT(elsewhere->clock_uncertainty, Milliseconds(100));
  EXPECT_TRUE((*app)->ended());
  const Exit exit = (*app)->release();
  EXPECT_EQ(exit.code, 3);
  EXPECT_EQ(exit.user_seconds, 1.5);
  EXPECT_EQ(exit.detail, "exited with code 3");
  EXPECT_FALSE((*app)->left_behind());
  EXPECT_EQ(cluster.asked("DELETE"),
            (std::vector<std::string>{
                "DELETE /apis/batch/v1/namespaces/default/jobs/assay-20260131-120000-7f3a-1"}));
  std::ifstream log(request().stdout_file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(log), {}), "one\ntwo\n");
  EXPECT_EQ(cluster.job()["metadata"]["annotations"]["assay.dev/owner"],
            Owner::self(SysRoot()).text());
}

TEST_F(JobsTest, the_node_is_the_device) {
  const auto jobs = open_jobs(cluster.settings());
  EXPECT_EQ(jobs->node(), "");
  EXPECT_TRUE(jobs->obstacles(request().target).empty());
  EXPECT_EQ(jobs->node(), "n1");
  EXPECT_EQ(jobs->device().hostname, "n1");
  EXPECT_EQ(jobs->device().cores, 4);
  EXPECT_EQ(jobs->device().memory_bytes, 1U << 30U);
  EXPECT_EQ(jobs->device().kernel, "6.1");
}

TEST_F(JobsTest, the_agents_token_is_the_clusters_secret) {
  cluster.wanted_token = "secret-token";
  EXPECT_TRUE(open_jobs(cluster.settings())->obstacles(request().target).empty());
}

TEST_F(JobsTest, an_agent_that_wants_another_token_is_told_before_anything_starts) {
  cluster.wanted_token = "other";
  const auto app = start(cluster.settings());
  ASSERT_FALSE(app);
  EXPECT_NE(app.error().message.find("--agent-token-file"), std::string::npos);
  EXPECT_TRUE(cluster.asked("POST").empty());
}

TEST_F(JobsTest, without_an_agent_nothing_starts) {
  cluster.has_agent = false;
  const auto app = start(cluster.settings());
  ASSERT_FALSE(app);
  EXPECT_NE(app.error().message.find("kubectl apply -k deploy/kubernetes"), std::string::npos);
  EXPECT_TRUE(cluster.asked("POST").empty());
}

TEST_F(JobsTest, an_image_that_is_not_there_is_told_and_its_job_deleted) {
  cluster.set_state(R"({"waiting": {"reason": "ErrImagePull", "message": "not found"}})");
  const auto app = start(cluster.settings());
  ASSERT_FALSE(app);
  EXPECT_EQ(app.error().message, "image waggle/app:1 cannot run on n1: ErrImagePull: not found");
  EXPECT_EQ(app.error().kind, ErrorKind::environment);
  EXPECT_EQ(cluster.asked("DELETE").size(), 1);
}

TEST_F(JobsTest, a_quota_that_refuses_is_told) {
  cluster.has_pod = false;
  cluster.event = "exceeded quota: q";
  const auto app = start(cluster.settings());
  ASSERT_FALSE(app);
  EXPECT_EQ(app.error().message, "the cluster makes no pod for the Job: exceeded quota: q");
  EXPECT_EQ(cluster.asked("DELETE").size(), 1);
}

TEST_F(JobsTest, a_pod_that_waits_too_long_is_given_up) {
  cluster.set_state(R"({"waiting": {"reason": "ContainerCreating"}})");
  auto settings = cluster.settings();
  settings.start_patience = Milliseconds(300);
  const auto app = start(settings);
  ASSERT_FALSE(app);
  EXPECT_EQ(app.error().message, "the app did not start on n1 within 300 ms: ContainerCreating");
  EXPECT_EQ(cluster.asked("DELETE").size(), 1);
}

TEST_F(JobsTest, whoever_has_no_patience_leaves_no_job) {
  cluster.set_state(R"({"waiting": {"reason": "ContainerCreating"}})");
  std::string told;
  const auto app = start(cluster.settings(), [&](const std::string& what) {
    told = what;
    return false;
  });
  ASSERT_FALSE(app);
  EXPECT_EQ(told, "n1: ContainerCreating");
  EXPECT_EQ(cluster.asked("DELETE").size(), 1);
}

TEST_F(JobsTest, an_app_that_is_stopped_loses_its_job) {
  auto app = start(cluster.settings());
  ASSERT_TRUE(app) << app.error().message;
  (*app)->stop(StopStep::interrupt);
  ASSERT_TRUE(ends(**app));
  EXPECT_GE(cluster.asked("DELETE").size(), 1);
  EXPECT_EQ((*app)->release().detail,
            "ended when asked to; its pod was gone before its exit code was read");
}

TEST_F(JobsTest, an_app_that_is_forgotten_loses_its_job) {
  {
    const auto app = start(cluster.settings());
    ASSERT_TRUE(app) << app.error().message;
  }
  EXPECT_EQ(cluster.asked("DELETE").size(), 1);
}

TEST_F(JobsTest, only_jobs_of_dead_sessions_of_this_machine_are_cleaned_up) {
  const Owner self = Owner::self(SysRoot());
  Owner dead = self;
  dead.pid = 1 << 22;
  const auto job = [](const std::string& name, const Owner& owner, const std::string& machine) {
    return Plain{
        {"metadata",
         {{"name", name},
          {"namespace", "team"},
          {"uid", name},
          {"labels", {{"assay.dev/session", "s"}}},
          {"annotations", {{"assay.dev/owner", owner.text()}, {"assay.dev/machine", machine}}}}}};
  };
  cluster.jobs =
      Plain::array({job("ours", self, machine_name(self)), job("left", dead, machine_name(self)),
                    job("others", dead, "another")})
          .dump();
  const auto lines = open_jobs(cluster.settings())->clean_up();
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_EQ(*lines, (std::vector<std::string>{"deleted Job left of session s"}));
  EXPECT_EQ(cluster.asked("DELETE"),
            (std::vector<std::string>{"DELETE /apis/batch/v1/namespaces/team/jobs/left"}));
}

}  // namespace
}  // namespace assay::launch
