// SPDX-License-Identifier: Apache-2.0
#include "steering.h"

#include "testing/http_server.h"
#include "testing/machine.h"

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

namespace asio = boost::asio;
using hooks::ReportKind;
using nlohmann::json;
using std::chrono::seconds;

const std::string kPath = "/docker/" + std::string(64, 'a');

/// A stand-in for Docker, which sets the limit of its one container.
class Docker {
 public:
  Docker(const testing::Machine& machine, std::filesystem::path socket)
      : machine_(machine), socket_(std::move(socket)) {
    http_ = net::testing::HttpServer::on_unix_socket(
        socket_, [this](net::testing::Connection& connection) { serve(connection); });
  }
  const std::filesystem::path& socket() const { return socket_; }

  std::atomic<bool> refuses = false;
  std::atomic<int> updates = 0;

 private:
  void serve(net::testing::Connection& connection) {
    const std::string request = connection.read_request();
    std::string body = R"({"HostConfig": {"NanoCpus": 0}})";
    if (request.rfind("POST", 0) == 0 && !refuses) {
      const auto change = json::parse(request.substr(request.find("\r\n\r\n")));
      const int64_t quota = change.at("CpuQuota");
      machine_.write("/cg" + kPath + "/cpu.max",
                     fmt::format("{} 100000", quota < 0 ? "max" : fmt::to_string(quota)));
      ++updates;
    }
    const bool fails = request.rfind("POST", 0) == 0 && refuses;
    if (fails) body = R"({"message": "no room"})";
    connection.write(
        fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
                    fails ? 500 : 200, body.size(), body));
  }

  const testing::Machine& machine_;
  const std::filesystem::path socket_;
  std::unique_ptr<net::testing::HttpServer> http_;
};

/// One container that may use half a core of a machine with two, and needs 10 frames a second.
class SteeringTest : public ::testing::Test {
 protected:
  SteeringTest() {
    machine_.make_group(kPath, 0, 50e6);
    machine_.write("/cg" + kPath + "/cpu.max", "50000 100000");
    machine_.write("/proc/41/cgroup", "0::" + kPath + "\n");
    std::filesystem::create_directories(state_);
  }
  Settings settings() const {
    Settings settings;
    settings.docker = docker_.socket();
    settings.state = state_;
    settings.act.enabled = true;
    return settings;
  }
  static Device device() {
    Device device;
    device.cores = 2;
    device.memory_bytes = 4e9;
    return device;
  }
  /// With what an earlier life has left in its folder.
  void start() {
    table_.group_appeared(kPath);
    steering_.start();
    ASSERT_TRUE(steering_.set_goals(kPath, parse_goals("fps >= 10").value()));
    caller_ = reports_.caller_connected({.pid = 41, .command = "detect"});
    fps_ = reports_.declare(caller_, {"fps", "per second", ReportKind::rate});
  }
  /// Seconds in which the app makes so many frames and is held back by its limit.
  void pass(int length, double frames) {
    for (int i = 0; i < length; ++i) {
      clock_.advance(seconds(1));
      ++second_;
      machine_.write(
          "/cg" + kPath + "/cpu.stat",
          fmt::format("usage_usec {}\nnr_periods {}\nnr_throttled {}\nthrottled_usec {}\n",
                      second_ * 500'000, second_ * 10, second_ * 9, second_ * 400'000));
      machine_.write("/proc/stat",
                     fmt::format("cpu  1 2 3 {} 0 0\ncpu0 1 2\ncpu1 1 2\nintr 5\n", second_ * 150));
      reports_.value(caller_, fps_, clock_.now(), frames);
      table_.beat();
      steering_.beat();
      run();
    }
  }
  void run() {
    loop_.restart();
    loop_.run();
  }
  void end() {
    asio::co_spawn(loop_, steering_.put_back(), asio::detached);
    run();
  }
  /// Quota in microseconds, or "max".
  std::string limit() const {
    const std::string text = *machine_.root().read("/cg" + kPath + "/cpu.max");
    return text.substr(0, text.find(' '));
  }
  bool told(const std::string& words) const {
    return std::any_of(told_.begin(), told_.end(), [&](const std::string& line) {
      return line.find(words) != std::string::npos;
    });
  }

  const testing::Machine machine_;
  const std::filesystem::path state_ = std::filesystem::path(machine_.groups()).parent_path() / "s";
  const std::filesystem::path undo_ = state_ / "limits.json";
  Docker docker_{machine_, state_.parent_path() / "docker.sock"};
  ManualClock clock_{from_unix_ns(1'700'000'000'000'000'000)};
  asio::io_context loop_;
  Settings settings_ = settings();
  const Device device_ = device();
  LiveTable table_{machine_.root(), clock_, {}};
  Reports reports_{clock_, table_, seconds(60)};
  std::vector<std::string> told_;
  Steering steering_{{machine_.root(), clock_, loop_, settings_, device_, table_, reports_,
                      [this](const std::string& line) { told_.push_back(line); }}};
  hooks::CallerId caller_{};
  hooks::ReportId fps_{};
  int64_t second_ = 0;
};

TEST_F(SteeringTest, gives_more_to_one_that_its_limit_starves_and_takes_it_back_at_the_end) {
  start();
  for (int i = 0; i < 15 && docker_.updates == 0; ++i) pass(1, 6);
  EXPECT_EQ(docker_.updates, 1);
  EXPECT_GT(std::stoi(limit()), 50'000);
  EXPECT_TRUE(told("raise")) << ::testing::PrintToString(told_);
  EXPECT_EQ(json::parse(std::ifstream(undo_))[kPath]["cores"], 0.5) << "for a life after this one";
  const auto advice = json::parse(steering_.advice());
  EXPECT_EQ(advice["actions"].size(), 1U);
  EXPECT_EQ(advice["actions"][0]["from"]["cores"], 0.5);
  end();
  EXPECT_EQ(limit(), "50000");
  EXPECT_FALSE(std::filesystem::exists(undo_));
}

TEST_F(SteeringTest, tells_what_docker_refused_and_counts_no_step) {
  docker_.refuses = true;
  start();
  pass(15, 6);
  EXPECT_EQ(limit(), "50000");
  EXPECT_TRUE(told("no room")) << ::testing::PrintToString(told_);
  for (const auto count : steering_.steps()) EXPECT_EQ(count, 0U);
  EXPECT_EQ(json::parse(steering_.advice()).at("actions").at(0).at("error"),
            "Docker did not change the limit: no room");
}

TEST_F(SteeringTest, puts_all_back_when_it_may_no_longer_act) {
  start();
  pass(15, 6);
  ASSERT_NE(limit(), "50000");
  settings_.act.enabled = false;
  pass(1, 6);
  EXPECT_EQ(limit(), "50000");
  EXPECT_FALSE(std::filesystem::exists(undo_));
  pass(20, 6);
  EXPECT_EQ(limit(), "50000") << "and leaves it alone";
}

TEST_F(SteeringTest, puts_back_what_an_earlier_life_has_changed_and_tries_again_where_that_fails) {
  std::ofstream(undo_) << json{{kPath, {{"cores", 1.5}}}, {"/docker/gone", {{"cores", 1}}}};
  settings_.act.enabled = false;
  docker_.refuses = true;
  start();
  pass(2, 12);
  EXPECT_EQ(limit(), "50000");
  EXPECT_TRUE(told("not put back")) << ::testing::PrintToString(told_);
  docker_.refuses = false;
  pass(50, 12);
  EXPECT_EQ(limit(), "50000") << "not yet";
  pass(15, 12);
  EXPECT_EQ(limit(), "150000");
  const auto left = json::parse(std::ifstream(undo_));
  EXPECT_FALSE(left.contains(kPath));
  EXPECT_TRUE(left.contains("/docker/gone")) << "it may come back";
}

TEST_F(SteeringTest, leaves_what_a_caller_has_set) {
  settings_.act.enabled = false;
  start();
  pass(1, 12);
  ASSERT_TRUE(steering_.set_limits(kPath, {.cores = 1.25}));
  run();
  EXPECT_EQ(limit(), "125000");
  end();
  EXPECT_EQ(limit(), "125000");
  EXPECT_FALSE(steering_.set_limits(kPath, {.cores = 64})) << "the machine has two";
  EXPECT_FALSE(steering_.set_limits("/docker/none", {.cores = 1}));
}

TEST_F(SteeringTest, goals_that_a_caller_has_set_outlive_it_and_go_with_their_app) {
  std::ofstream(state_ / "goals.json")
      << json{{kPath, {"fps >= 3"}}, {"/docker/gone", {"fps >= 4"}}};
  table_.group_appeared(kPath);
  steering_.start();
  const auto kept = [this] { return json::parse(std::ifstream(state_ / "goals.json")); };
  clock_.advance(seconds(59));
  steering_.beat();
  EXPECT_TRUE(kept().contains("/docker/gone")) << "one that only reports may come back";
  clock_.advance(seconds(1));
  steering_.beat();
  EXPECT_EQ(kept(), (json{{kPath, {"fps >= 3"}}}));
  ASSERT_TRUE(steering_.set_goals(kPath, parse_goals("fps >= 5").value()));
  EXPECT_EQ(kept(), (json{{kPath, {"fps >= 5"}}}));
  table_.group_gone(kPath);
  steering_.beat();
  EXPECT_FALSE(std::filesystem::exists(state_ / "goals.json"));
}

TEST_F(SteeringTest, a_label_that_is_edited_into_nonsense_is_told_each_time_it_changes) {
  start();
  const auto label = [this](const char* text) {
    AppIdentity identity = table_.find(kPath)->identity();
    identity.labels = {{"assay.goals", text}};
    table_.find(kPath)->identify(std::move(identity));
    steering_.identified(*table_.find(kPath));
    steering_.identified(*table_.find(kPath));
  };
  label("fps >= 5");
  EXPECT_FALSE(told("is not taken"));
  label("as fast as can be");
  label("faster");
  EXPECT_EQ(std::count_if(told_.begin(), told_.end(),
                          [](const std::string& line) {
                            return line.find("is not taken") != std::string::npos;
                          }),
            2);
}

}  // namespace
}  // namespace assay::agent
