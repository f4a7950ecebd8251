// SPDX-License-Identifier: Apache-2.0
#include "testing/http_server.h"  // of net

#include <atomic>
#include <cstdlib>
#include <fmt/format.h>

#include <assay/base/mutex.h>
#include <assay/placement/docker_host.h>
#include <gtest/gtest.h>

namespace assay::placement {
namespace {

using net::testing::Connection;
using net::testing::HttpServer;

std::string answer(int status, std::string_view body) {
  return fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
}

/// A daemon whose only container is a worker of this test.
class DockerHostTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "assay-host-XXXXXX").native();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    worker_ = HttpServer::on_loopback([this](Connection& connection) {
      for (auto request = connection.read_request(); !request.empty();
           request = connection.read_request())
        connection.write(request.starts_with("GET /healthz ")
                             ? answer(++health_ > 1 ? 200 : 503, "")
                             : answer(200, "{\"times\": [1]}"));
    });
    daemon_ = HttpServer::on_unix_socket(folder_ / "docker.sock", [this](Connection& connection) {
      for (auto request = connection.read_request(); !request.empty();
           request = connection.read_request())
        connection.write(said(request));
    });
  }
  void TearDown() override {
    daemon_.reset();
    worker_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string said(const std::string& request) {
    const Lock lock(mutex_);
    asked_ += request.substr(0, request.find(' ', request.find(' ') + 1)) + "\n";
    if (request.starts_with("POST /containers/create")) {
      created_ = request;
      return answer(201, R"({"Id": "abc"})");
    }
    if (request.starts_with("GET /containers/abc/json")) return answer(200, container());
    if (request.starts_with("GET /containers/json"))
      return answer(200, R"([{"Id": "abc", "Names": ["/w"], "State": "running", "Created": 1,
                            "Labels": {"assay.placement": "m"}},
                           {"Id": "d", "Names": ["/v"], "State": "exited",
                            "Labels": {"assay.placement": "m", "assay.placement.node": "pi-2"}}])");
    if (request.starts_with("GET /containers/abc/logs"))
      return answer(200, std::string("\2\0\0\0\0\0\0\4oh!\n", 12));
    return answer(200, "{}");
  }
  std::string container() const {
    if (ended_) return R"({"Id": "abc", "State": {"Status": "exited", "ExitCode": 4}})";
    return fmt::format(
        R"({{"Id": "abc", "Name": "/w", "State": {{"Status": "running"}}, "NetworkSettings":
        {{"Ports": {{"7010/tcp": [{{"HostIp": "127.0.0.1", "HostPort": "{}"}}]}}}}}})",
        worker_->port());
  }
  std::string address() const { return "unix://" + (folder_ / "docker.sock").native(); }
  std::unique_ptr<WorkerHost> host() const {
    auto made = docker_host(address(), {});
    EXPECT_TRUE(made);
    return std::move(*made);
  }
  bool was_asked(const std::string& line) const {
    const Lock lock(mutex_);
    return asked_.find(line + "\n") != std::string::npos;
  }
  std::string created() const {
    const Lock lock(mutex_);
    return created_;
  }
  WorkerPlan plan() const {
    WorkerPlan one;
    one.name = "w";
    one.model = "m";
    one.file = ASSAY_SOURCE_DIR "/LICENSE";
    one.image = "test/worker:1";
    one.node = "pi-1";
    one.env = {{"ASSAY_PORT", "7010"}};
    one.memory_bytes = 1e8;
    return one;
  }

  std::atomic<bool> ended_ = false;

 private:
  std::filesystem::path folder_;
  std::atomic<int> health_ = 0;
  mutable Mutex mutex_;
  std::string asked_ ASSAY_GUARDED_BY(mutex_);
  std::string created_ ASSAY_GUARDED_BY(mutex_);
  std::unique_ptr<HttpServer> worker_;
  std::unique_ptr<HttpServer> daemon_;
};

TEST_F(DockerHostTest, starts_a_worker_asks_it_and_ends_it) {
  const auto one = host();
  const auto started = one->start(plan());
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_NE(created().find(R"("ASSAY_MODEL=/assay/model.onnx")"), std::string::npos) << created();
  EXPECT_NE(created().find(R"("assay.placement.node":"pi-1")"), std::string::npos) << created();
  EXPECT_NE(created().find(R"("assay.placement":"m")"), std::string::npos) << created();
  EXPECT_NE(created().find(R"("ReadonlyRootfs":true)"), std::string::npos) << created();
  EXPECT_NE(created().find(R"("Memory":912000000)"), std::string::npos) << created();
  EXPECT_TRUE(was_asked("PUT /containers/abc/archive?path=%2Fassay"));
  EXPECT_EQ(one->serves().value_or(true), false) << "its model is not loaded yet";
  EXPECT_EQ(one->serves().value_or(false), true);
  EXPECT_EQ(one->run("{}", Milliseconds(5000)).value_or(""), "{\"times\": [1]}");
  EXPECT_TRUE(one->address().starts_with("http://127.0.0.1:")) << one->address();
  EXPECT_TRUE(one->end());
  EXPECT_TRUE(was_asked("DELETE /containers/abc?force=true&v=true"));
}

TEST_F(DockerHostTest, tells_how_a_worker_ended_with_its_last_words) {
  const auto one = host();
  ASSERT_TRUE(one->start(plan()));
  ended_ = true;
  const auto serves = one->serves();
  ASSERT_FALSE(serves);
  EXPECT_EQ(serves.error().message, "it ended with 4: oh!");
  EXPECT_EQ(serves.error().kind, ErrorKind::app);
}

TEST_F(DockerHostTest, lists_workers_by_their_label) {
  const auto found = docker_workers(address(), "pi-1", {});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0].name, "w");
  EXPECT_EQ((*found)[0].model, "m");
  EXPECT_EQ((*found)[0].node, "pi-1") << "whose daemon it is";
  EXPECT_EQ((*found)[0].state, Worker::State::running);
  EXPECT_EQ((*found)[0].since, from_unix_ns(1'000'000'000));
  EXPECT_EQ((*found)[1].node, "pi-2");
  EXPECT_EQ((*found)[1].state, Worker::State::ended);
  EXPECT_FALSE(docker_workers("unix:///nowhere/docker.sock", "pi-1", {}));
}

TEST_F(DockerHostTest, ends_workers_by_name_and_nothing_else) {
  EXPECT_FALSE(end_docker_worker(address(), "other"));
  EXPECT_FALSE(was_asked("DELETE /containers/abc?force=true&v=true"));
  EXPECT_TRUE(end_docker_worker(address(), "w"));
  EXPECT_TRUE(was_asked("DELETE /containers/abc?force=true&v=true"));
}

}  // namespace
}  // namespace assay::placement
