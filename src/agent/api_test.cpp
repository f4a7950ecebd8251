// SPDX-License-Identifier: Apache-2.0
#include "api.h"

#include "testing/machine.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

using Json = nlohmann::json;

const std::string kPath = "/docker/" + std::string(64, 'a');

class NoControl final : public Control {
 public:
  Result<void> set_goals(const std::string& /*path*/, std::vector<Goal> /*goals*/) override {
    return {};
  }
  Result<void> set_limits(const std::string& /*path*/, const LimitChange& /*change*/) override {
    return {};
  }
  Result<void> set_interval(const std::string& /*path*/, Milliseconds /*interval*/,
                            Nanoseconds /*length*/) override {
    return {};
  }
  Result<void> capture(const std::string& /*path*/, const CaptureRequest& /*request*/) override {
    return {};
  }
};

/// An API over one app, asked without a socket.
class ApiTest : public ::testing::Test {
 protected:
  ApiTest() {
    machine.make_group(kPath, 10, 5000);
    table.group_appeared(kPath);
    table.beat();
  }

  net::ServerResponse ask(const std::string& method, const std::string& path) {
    net::ServerRequest request;
    request.method = method;
    request.path = path;
    request.origin = origin;
    request.accept_encoding = accept_encoding;
    return api.answer(request);
  }

  testing::Machine machine;
  ManualClock clock{from_unix_ns(1'700'000'000'000'000'000)};
  Settings settings;
  Device device;
  LiveTable table{machine.root(), clock, {}};
  Reports reports{clock, table, settings.linger};
  NoControl control;
  net::Origin origin = net::Origin::loopback;
  std::string accept_encoding;
  GoalBook goals;
  Decisions decisions{machine.root(), table, reports, goals};
  Api api{{clock, settings, device, table, reports, control, decisions,
           [](promapi::FamilyWriter& out) {
             out.family("one", promapi::FamilyKind::gauge, "One.");
             out.sample({}, 1);
           },
           [] { return std::string("{}"); }}};
};

TEST_F(ApiTest, tells_the_live_table_and_the_node) {
  device.hostname = "pole-7";
  device.cores = 4;
  const auto answer = ask("GET", "/api/v1/apps");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.content_type, "application/json");
  const Json json = Json::parse(answer.body);
  EXPECT_EQ(json.at("apps").at(0).at("id"), kPath);
  EXPECT_EQ(json.at("node").at("name"), "pole-7");
  EXPECT_EQ(json.at("node").at("cores"), 4);
}

TEST_F(ApiTest, streams_the_same_at_each_beat) {
  settings.interval = Milliseconds(200);
  const auto answer = ask("GET", "/api/v1/stream");
  EXPECT_EQ(answer.content_type, "text/event-stream");
  EXPECT_EQ(answer.interval, Milliseconds(200));
  EXPECT_TRUE(answer.body.starts_with("data: {")) << answer.body;
  ASSERT_TRUE(answer.next);
  EXPECT_EQ(answer.next(), answer.body) << "nothing has changed";
}

TEST_F(ApiTest, metrics_are_text_compressed_for_who_asks_for_that) {
  EXPECT_EQ(ask("GET", "/metrics").body, "# HELP one One.\n# TYPE one gauge\none 1\n");
  accept_encoding = "gzip";
  const auto packed = ask("GET", "/metrics");
  EXPECT_EQ(packed.headers.at(0), std::pair(std::string("Content-Encoding"), std::string("gzip")));
  EXPECT_EQ(packed.body.substr(0, 2), "\x1f\x8b");
}

TEST_F(ApiTest, what_is_not_there_is_said) {
  EXPECT_EQ(ask("GET", "/nothing").status, 404);
  EXPECT_EQ(ask("POST", "/metrics").status, 405);
  EXPECT_EQ(ask("GET", "/healthz").body, "ok\n");
}

TEST_F(ApiTest, others_than_this_machine_are_refused) {
  origin = net::Origin::network;
  EXPECT_EQ(ask("GET", "/metrics").status, 401);
}

}  // namespace
}  // namespace assay::agent
