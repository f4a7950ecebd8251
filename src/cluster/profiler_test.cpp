// SPDX-License-Identifier: Apache-2.0
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <string>
#include <thread>
#include <vector>

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

/// Tells of no nodes and no pods, and lets nobody see anything else.
class EmptyCluster {
 public:
  EmptyCluster() : server_(loop_, [](const net::ServerRequest& r) { return answer(r); }) {
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
  static net::ServerResponse answer(const net::ServerRequest& request) {
    net::ServerResponse response;
    response.content_type = "application/json";
    const bool open = request.path == "/api/v1/nodes" || request.path == "/api/v1/pods";
    response.status = open ? 200 : 403;
    if (open && request.parameter("watch").empty())
      response.body = R"({"metadata": {"resourceVersion": "7"}, "items": []})";
    return response;
  }

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
  std::vector<std::string> said;
  const auto tell = [&](const std::string& sentence) {
    said.push_back(sentence);
    if (sentence.find("asked again until they are") != std::string::npos) stopper.stop();
  };
  EXPECT_TRUE(profile(nowhere(), tell, stopper));
  EXPECT_TRUE(stopper.stopped());
}

}  // namespace
}  // namespace assay::cluster
