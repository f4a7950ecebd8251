// SPDX-License-Identifier: Apache-2.0
#include "api.h"

#include "testing/machine.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

using Json = nlohmann::json;

const std::string kPath = "/docker/" + std::string(64, 'a');

/// Remembers what it was told.
class KeptControl final : public Control {
 public:
  Result<void> set_goals(const std::string& path, std::vector<Goal> goals) override {
    return keep(fmt::format("{} goals {}", path, goals.size()));
  }
  Result<void> set_limits(const std::string& path, const LimitChange& change) override {
    return keep(fmt::format("{} limits {} {}", path, change.cores.value_or(0),
                            change.memory_bytes.value_or(0)));
  }
  Result<void> set_interval(const std::string& path, Milliseconds interval,
                            Nanoseconds length) override {
    return keep(fmt::format("{} interval {} {}", path, interval.count(), seconds(length)));
  }
  Result<void> capture(const std::string& path, const CaptureRequest& request) override {
    return keep(fmt::format("{} capture {}", path, seconds(request.length)));
  }

  std::string last;
  std::optional<Error> error;

 private:
  Result<void> keep(std::string what) {
    last = std::move(what);
    if (error) return fail(*error);
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
    request.origin = net::Origin::loopback;
  }

  net::ServerResponse ask(const std::string& method, const std::string& path,
                          const std::string& body = "") {
    request.method = method;
    request.path = path;
    request.body = body;
    return api.answer(request);
  }
  void call_as_root() {
    request.origin = net::Origin::unix_socket;
    request.user = 0;
  }

  testing::Machine machine;
  ManualClock clock{from_unix_ns(1'700'000'000'000'000'000)};
  Settings settings;
  Device device;
  LiveTable table{machine.root(), clock, {}};
  Reports reports{clock, table, settings.linger};
  KeptControl control;
  Tokens tokens;
  std::vector<std::string> told;
  net::ServerRequest request;
  GoalBook goals;
  Decisions decisions{machine.root(), table, reports, goals};
  Api api{{clock, settings, tokens, device, table, reports, control, decisions,
           [](promapi::FamilyWriter& out) {
             out.family("one", promapi::FamilyKind::gauge, "One.");
             out.sample({}, 1);
           },
           [] { return std::string("{}"); },
           [this](const std::string& line) { told.push_back(line); }}};
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

TEST_F(ApiTest, tells_one_app_with_all_its_counters_and_when_they_were_read) {
  machine.write("/proc/41/cgroup", "0::" + kPath + "\n");
  const auto caller = reports.caller_connected({.pid = 41});
  hooks::Histogram added;
  added.add(0.25, 3);
  const auto step = reports.declare(caller, {"step", "seconds", hooks::ReportKind::timer});
  reports.durations(caller, step, clock.now(), added);
  const auto fps = reports.declare(caller, {"fps", "per second", hooks::ReportKind::rate});
  reports.value(caller, fps, clock.now(), 12.5);
  reports.caller_gone(caller);
  const auto read = clock.now();
  clock.advance(Milliseconds(300));
  request.query = "app=" + std::string(64, 'a');
  const Json json = Json::parse(ask("GET", "/api/v1/apps").body);
  EXPECT_EQ(json.at("unix_ns"), unix_ns(clock.now()));
  const Json& app = json.at("apps").at(0);
  EXPECT_EQ(app.at("read_unix_ns"), unix_ns(read));
  EXPECT_EQ(app.at("started_unix_ns"), unix_ns(read));
  EXPECT_EQ(app.at("totals").at("cpu_usage_seconds_total"), 10);
  EXPECT_EQ(app.at("totals").at("memory_bytes"), 4900) << "without what could be given back";
  EXPECT_EQ(app.at("totals").at("memory_peak_bytes"), 10'000);
  EXPECT_FALSE(app.at("totals").contains("disk_reads_total")) << "not measured is not zero";
  const Json& durations = app.at("reported").at("step").at("durations");
  ASSERT_EQ(durations.size(), 1);
  EXPECT_NEAR(durations.at(0).at(0).get<double>(), 0.25, 0.0025);
  EXPECT_EQ(durations.at(0).at(1), 3);
  EXPECT_EQ(app.at("reported").at("step").at("unix_ns"), unix_ns(read));
  EXPECT_EQ(app.at("reported").at("fps").at("value"), 12.5) << "as of its time";
  request.query = "app=somebody";
  EXPECT_TRUE(Json::parse(ask("GET", "/api/v1/apps").body).at("apps").empty());
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
  request.accept_encoding = "gzip";
  const auto packed = ask("GET", "/metrics");
  EXPECT_EQ(packed.headers.at(0), std::pair(std::string("Content-Encoding"), std::string("gzip")));
  EXPECT_EQ(packed.body.substr(0, 2), "\x1f\x8b");
}

TEST_F(ApiTest, what_is_not_there_is_said) {
  const auto nothing = ask("GET", "/nothing");
  EXPECT_EQ(nothing.status, 404);
  EXPECT_EQ(Json::parse(nothing.body).at("error"),
            "there is nothing at this address; see /metrics and /api/v1/apps");
  const auto post = ask("POST", "/metrics");
  EXPECT_EQ(post.status, 405);
  EXPECT_EQ(post.headers.at(0), std::pair(std::string("Allow"), std::string("GET, HEAD")));
  EXPECT_EQ(ask("GET", "/healthz").body, "ok\n");
}

TEST_F(ApiTest, others_than_this_machine_are_refused) {
  request.origin = net::Origin::network;
  const auto answer = ask("GET", "/metrics");
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.headers.at(0),
            std::pair(std::string("WWW-Authenticate"), std::string("Bearer")));
  EXPECT_EQ(ask("GET", "/healthz").status, 200) << "tells nothing";
  EXPECT_EQ(ask("PUT", "/api/v1/goals", "{}").status, 401);
}

TEST_F(ApiTest, each_call_reaches_the_app_that_it_names) {
  call_as_root();
  const std::string id = kPath.substr(kPath.rfind('/') + 1);
  for (const std::string& app : {kPath, id, id.substr(0, 12)}) {
    const auto answer =
        ask("PUT", "/api/v1/goals", Json({{"app", app}, {"goals", {"fps >= 10"}}}).dump());
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(Json::parse(answer.body).at("app"), kPath);
    EXPECT_EQ(control.last, kPath + " goals 1");
  }
  EXPECT_EQ(ask("PUT", "/api/v1/limits", Json({{"app", id}, {"cores", 2}}).dump()).status, 200);
  EXPECT_EQ(control.last, kPath + " limits 2 0");
  EXPECT_EQ(
      ask("PUT", "/api/v1/interval", Json({{"app", id}, {"interval", "100ms"}}).dump()).status,
      200);
  EXPECT_EQ(control.last, kPath + " interval 100 60");
  EXPECT_EQ(ask("POST", "/api/v1/captures", Json({{"app", id}, {"kind", "stacks"}}).dump()).status,
            200);
  EXPECT_EQ(control.last, kPath + " capture 10");
}

TEST_F(ApiTest, each_call_is_told_in_one_line) {
  call_as_root();
  ask("PUT", "/api/v1/goals", Json({{"app", kPath}, {"goals", {"fps >= 10"}}}).dump());
  control.error = Error{ErrorKind::environment, "no"};
  ask("PUT", "/api/v1/goals", Json({{"app", kPath}, {"goals", Json::array()}}).dump());
  EXPECT_EQ(told, (std::vector<std::string>{kPath + " by user 0: goals 'fps >= 10'",
                                            kPath + " by user 0: no goals; refused: no"}));
}

TEST_F(ApiTest, what_cannot_be_done_has_its_status) {
  call_as_root();
  const std::string body = Json({{"app", kPath}, {"goals", Json::array()}}).dump();
  EXPECT_EQ(ask("PUT", "/api/v1/goals", "nonsense").status, 422);
  EXPECT_EQ(ask("PUT", "/api/v1/goals", R"({"app": "nobody", "goals": []})").status, 404);
  control.error = Error{ErrorKind::input, "no"};
  EXPECT_EQ(ask("PUT", "/api/v1/goals", body).status, 422);
  control.error = Error{ErrorKind::environment, "no"};
  EXPECT_EQ(ask("PUT", "/api/v1/goals", body).status, 409);
}

TEST_F(ApiTest, a_name_that_several_have_is_no_name) {
  const std::string other = "/docker/" + std::string(12, 'a') + std::string(52, 'b');
  machine.make_group(other, 1, 1000);
  table.group_appeared(other);
  call_as_root();
  const auto answer = ask("PUT", "/api/v1/goals",
                          Json({{"app", std::string(12, 'a')}, {"goals", Json::array()}}).dump());
  EXPECT_EQ(answer.status, 409);
  EXPECT_NE(answer.body.find(other), std::string::npos) << answer.body;
  table.group_gone(other);
  EXPECT_EQ(ask("PUT", "/api/v1/goals",
                Json({{"app", std::string(12, 'a')}, {"goals", Json::array()}}).dump())
                .status,
            200)
      << "one that has ended is not meant";
}

}  // namespace
}  // namespace assay::agent
