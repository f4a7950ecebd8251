// SPDX-License-Identifier: Apache-2.0
#include "testing/http_server.h"  // of net

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/files.h>
#include <assay/infer/worker.h>
#include <gtest/gtest.h>

namespace assay::infer {
namespace {

using net::testing::Connection;
using nlohmann::json;

/// Runs as it is asked to, each in a hundredth of a second.
WorkerEngine steady_engine() {
  return {.name = "test",
          .version = "1",
          .load = [](const LoadRequest&) -> Result<Loaded> { return Loaded(); },
          .run = [](const RunRequest& request) -> Result<std::vector<double>> {
            return std::vector<double>(static_cast<size_t>(request.count), 0.01);
          }};
}

net::ServerResponse asked(Worker& worker, std::string method, std::string path,
                          std::string body = "") {
  net::ServerRequest request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.body = std::move(body);
  auto response = worker.answer(request);
  return response.later ? response.later() : response;
}

Result<WorkerSettings> settings_of(const std::map<std::string, std::string>& environment) {
  return worker_settings([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? "" : found->second;
  });
}

TEST(Worker, tells_what_it_is_and_times_runs) {
  Worker worker(steady_engine());
  EXPECT_EQ(asked(worker, "GET", "/healthz").status, 200);
  const auto ran = asked(worker, "POST", "/run", R"({"count": 3, "seconds": 1})");
  EXPECT_EQ(ran.status, 200);
  EXPECT_EQ(json::parse(ran.body),
            (json{{"engine", "test"}, {"version", "1"}, {"times", {0.01, 0.01, 0.01}}}));
}

TEST(Worker, refuses_what_is_no_run) {
  Worker worker(steady_engine());
  for (const char* body : {"", "[]", "{\"count\": \"x\"}", "{\"count\": 0}", "{\"count\": 10001}",
                           "{\"seconds\": -1}", "{\"seconds\": 1e9}"})
    EXPECT_EQ(asked(worker, "POST", "/run", body).status, 422) << body;
  EXPECT_EQ(asked(worker, "GET", "/run").status, 405);
  EXPECT_EQ(asked(worker, "GET", "/").status, 404);
}

TEST(Worker, takes_no_names_of_files_from_callers) {
  WorkerEngine engine = steady_engine();
  engine.run = [](const RunRequest& request) -> Result<std::vector<double>> {
    EXPECT_TRUE(request.input.empty() && request.output.empty());
    return std::vector<double>{1};
  };
  Worker worker(std::move(engine));
  EXPECT_EQ(asked(worker, "POST", "/run", R"({"input": "/etc/passwd", "output": "/x"})").status,
            200);
}

TEST(Worker, tells_what_its_engine_says) {
  WorkerEngine engine = steady_engine();
  engine.run = [](const RunRequest&) -> Result<std::vector<double>> { return refused("no"); };
  Worker worker(std::move(engine));
  const auto ran = asked(worker, "POST", "/run", "{}");
  EXPECT_EQ(ran.status, 500);
  EXPECT_EQ(json::parse(ran.body)["error"], "no");
}

TEST(WorkerSettings, are_read_from_the_environment) {
  const auto all = settings_of({{"ASSAY_MODEL", "/m.onnx"},
                                {"ASSAY_PORT", "8000"},
                                {"ASSAY_SHAPES", R"({"x": [1, 3]})"},
                                {"ASSAY_THREADS", "2"}});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->listen, ":8000");
  EXPECT_EQ(all->load.file, "/m.onnx");
  EXPECT_EQ(all->load.shapes.at("x"), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(all->load.threads, 2);
  EXPECT_EQ(settings_of({})->listen, ":7010");
  EXPECT_FALSE(settings_of({{"ASSAY_SHAPES", "[1]"}}));
  EXPECT_FALSE(settings_of({{"ASSAY_THREADS", "all"}}));
}

TEST(ServeWorker, does_not_serve_what_cannot_be_loaded) {
  WorkerEngine engine = steady_engine();
  engine.load = [](const LoadRequest&) -> Result<Loaded> { return refused("no such operator"); };
  const auto served = serve_worker(engine, {.load = {.file = "/m.onnx"}}, {});
  ASSERT_FALSE(served);
  EXPECT_EQ(served.error().message, "the model cannot be loaded: no such operator");
  EXPECT_FALSE(serve_worker(engine, {}, {})) << "no model is named";
}

class FetchModel : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "assay-fetch-XXXXXX").native();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  bool folder_is_empty() const { return std::filesystem::is_empty(folder_); }
  /// What one answer makes of it, and what was asked.
  Result<std::filesystem::path> fetched(const std::string& answer) {
    const auto server = net::testing::HttpServer::on_loopback([&](Connection& connection) {
      request_ = connection.read_request();
      connection.write(answer);
    });
    return fetch_model(server->base() + "/models/1?x=y", "secret", folder_);
  }

  std::filesystem::path folder_;
  std::string request_;
};

TEST_F(FetchModel, shows_its_key_and_keeps_what_comes) {
  const auto file = fetched("HTTP/1.1 200 X\r\nContent-Length: 5\r\n\r\nmodel");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(read_file(*file).value(), "model");
  EXPECT_TRUE(request_.starts_with("GET /models/1?x=y HTTP/1.1\r\n")) << request_;
  EXPECT_NE(request_.find("Authorization: Bearer secret\r\n"), std::string::npos);
}

TEST_F(FetchModel, keeps_nothing_that_is_not_whole) {
  for (const char* answer : {"HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\nmodel",
                             "HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n",
                             "HTTP/1.1 401 X\r\nContent-Length: 2\r\n\r\nno"})
    EXPECT_FALSE(fetched(answer)) << answer;
  EXPECT_TRUE(folder_is_empty());
  EXPECT_FALSE(fetch_model("file:///etc/passwd", "", folder_));
}

}  // namespace
}  // namespace assay::infer
