// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <poll.h>
#include <thread>
#include <unistd.h>

#include <assay/base/mutex.h>
#include <assay/launch/jobs.h>
#include <assay/net/http_server.h>
#include <gtest/gtest.h>

namespace assay::launch {

inline const std::string kId(64, 'c');
constexpr auto kAhead = std::chrono::seconds(90);  ///< the node's clock

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
  nlohmann::json job() const {
    const Lock lock(mutex_);
    return job_;
  }
  void set_state(const std::string& state) {
    const Lock lock(mutex_);
    state_ = state;
  }
  /// The Job's pod, and the agent's, from now on.
  void set_pods(const std::string& pod, const std::string& agent) {
    const Lock lock(mutex_);
    pod_ = pod;
    agent_ = agent;
  }
  /// Asked before anything else; its answer counts where it has one.
  using Instead = std::function<std::optional<net::ServerResponse>(const net::ServerRequest&)>;
  void answer_instead(Instead instead) {
    const Lock lock(mutex_);
    instead_ = std::move(instead);
  }
  static net::ServerResponse json(const std::string& body, int status = 200) {
    net::ServerResponse response;
    response.status = status;
    response.content_type = "application/json";
    response.body = body;
    return response;
  }

  static std::string node_object(const std::string& name, const std::string& cores) {
    return fmt::format(
        R"({{"metadata": {{"name": "{}", "uid": "n"}}, "status": {{
        "conditions": [{{"type": "Ready", "status": "True"}}],
        "capacity": {{"cpu": "{}", "memory": "1Gi"}}, "allocatable": {{"cpu": "{}", "memory": "1Gi"}},
        "nodeInfo": {{"kernelVersion": "6.1", "machineID": "m"}}}}}})",
        name, cores, cores);
  }

  // To be set before anything is asked.
  bool has_agent = true;
  std::vector<std::string> agents_nodes = {"n1"};  ///< the same one is on each
  std::string agents_status = R"({"conditions": [{"type": "Ready", "status": "True"}]})";
  bool has_pod = true;
  std::string wanted_token;
  std::string event = "nothing";
  std::string jobs = "[]";
  std::string others;  ///< pods of other sessions
  std::string nodes = node_object("n1", "4");

 private:
  net::ServerResponse answer(const net::ServerRequest& request) {
    const Lock lock(mutex_);
    asked_.push_back(fmt::format("{} {}", request.method, request.path));
    const std::string& path = request.path;
    if (auto answer = instead_ ? instead_(request) : std::nullopt) return std::move(*answer);
    if (request.method == "POST") return create(request);
    if (request.method == "DELETE") return remove();
    if (path == "/api/v1/nodes")
      return json(
          fmt::format(R"({{"metadata": {{"resourceVersion": "7"}}, "items": [{}]}})", nodes));
    if (path.starts_with("/api/v1/nodes/"))
      return json(node_object(path.substr(path.rfind('/') + 1), "4"));
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
    if (request.parameter("labelSelector").find("!=") != std::string::npos)
      return json(
          fmt::format(R"({{"metadata": {{"resourceVersion": "7"}}, "items": [{}]}})", others));
    if (path.ends_with("/pods")) return pods();
    return json(R"({"kind": "Status"})", 404);
  }

  net::ServerResponse create(const net::ServerRequest& request) ASSAY_REQUIRES(mutex_) {
    job_ = nlohmann::json::parse(request.body);
    job_["metadata"]["uid"] = "u-1";
    return json(job_.dump(), 201);
  }
  net::ServerResponse remove() ASSAY_REQUIRES(mutex_) {
    has_pod_gone_ = true;
    return json(R"({"kind": "Status", "status": "Success"})");
  }
  net::ServerResponse agents() const ASSAY_REQUIRES(mutex_) {
    std::string all;
    for (const auto& node : agents_nodes)
      all += fmt::format(
          R"({}{{"metadata": {{"name": "{}", "uid": "a"}}, "spec": {{"nodeName": "{}"}}, "status": {}}})",
          all.empty() ? "" : ", ", agent_, node, agents_status);
    return json(fmt::format(R"({{"metadata": {{"resourceVersion": "7"}}, "items": [{}]}})",
                            has_agent ? all : ""));
  }
  net::ServerResponse agent(const net::ServerRequest& request) ASSAY_REQUIRES(mutex_) {
    if (request.path.find(fmt::format("/{}:", agent_)) == std::string::npos)
      return json(R"({"kind": "Status"})", 404);
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
        R"({{"metadata": {{"resourceVersion": "7"}}, "items": [{{"metadata": {{"name": "{}", "uid": "p"}},
      "spec": {{"nodeName": "n1"}}, "status": {{"containerStatuses": [{{"containerID": "docker://{}", "state": {}}}]}}}}]}})",
        pod_, kId, state_));
  }

  mutable Mutex mutex_;
  SystemClock clock_;
  std::vector<std::string> asked_ ASSAY_GUARDED_BY(mutex_);
  nlohmann::json job_ ASSAY_GUARDED_BY(mutex_);
  std::string state_ ASSAY_GUARDED_BY(mutex_) =
      R"({"running": {"startedAt": "2026-01-31T12:00:02Z"}})";
  std::string pod_ ASSAY_GUARDED_BY(mutex_) = "pod-1";
  std::string agent_ ASSAY_GUARDED_BY(mutex_) = "agent-1";
  Instead instead_ ASSAY_GUARDED_BY(mutex_);
  Timestamp began_ ASSAY_GUARDED_BY(mutex_);
  bool has_pod_gone_ ASSAY_GUARDED_BY(mutex_) = false;
  boost::asio::io_context loop_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      loop_.get_executor()};
  net::HttpServer server_;
  int port_ = 0;
  std::jthread thread_;
};

/// Starts an app there.
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
  std::string log() {
    std::ifstream file(request().stdout_file);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  FakeCluster cluster;
};

}  // namespace assay::launch
