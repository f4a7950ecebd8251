// SPDX-License-Identifier: Apache-2.0
#include "docker/engine_answers.h"
#include "docker/testing/fake_engine.h"

#include <nlohmann/json.hpp>

#include <assay/launch/worker_container.h>
#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using testing::Answer;
using testing::FakeEngine;
using testing::TempFolder;

constexpr const char* kRunning =
    R"({"Id":"abc","Name":"/w","State":{"Status":"running"},"NetworkSettings":{"Ports":
       {"7010/tcp":[{"HostIp":"127.0.0.1","HostPort":"32768"}]}}})";
constexpr const char* kEnded = R"({"Id":"abc","State":{"Status":"exited","ExitCode":4}})";

/// A daemon that does all it is told but for what begins so.
FakeEngine::Handler willing(const std::string& unwilling, const char* inspected = kRunning) {
  return [=](const std::string& request) -> std::optional<Answer> {
    if (!unwilling.empty() && request.starts_with(unwilling))
      return Answer{500, R"({"message":"no space left"})"};
    if (request.starts_with("POST /containers/create")) return Answer{201, R"({"Id":"abc"})"};
    if (request.starts_with("GET /containers/json"))
      return Answer{200, R"([{"Id":"abc","Labels":{"assay.placement":"m"}}])"};
    if (request.starts_with("GET /containers/abc/json")) return Answer{200, inspected};
    return Answer{};
  };
}

WorkerDaemon daemon_of(const FakeEngine& fake) {
  auto daemon = WorkerDaemon::open("unix://" + fake.endpoint().unix_socket.native(), {});
  EXPECT_TRUE(daemon);
  return std::move(*daemon);
}

class WorkerContainerTest : public ::testing::Test {
 protected:
  void SetUp() override { folder_.write("m.onnx", "model"); }
  WorkerContainer worker() const {
    return {.name = "w",
            .image = "test/worker:1",
            .env = {},
            .labels = {},
            .file = folder_.path() / "m.onnx",
            .folder = "/assay",
            .file_name = "model.onnx",
            .port = 7010};
  }

 private:
  TempFolder folder_;
};

TEST_F(WorkerContainerTest, is_filled_before_it_is_started) {
  const FakeEngine fake(willing(""));
  auto daemon = daemon_of(fake);
  const auto id = daemon.start(worker());
  ASSERT_TRUE(id) << id.error().message;
  EXPECT_EQ(*id, "abc");
  EXPECT_EQ(fake.asked("PUT /containers/abc/archive?path=%2Fassay"), 1);
  EXPECT_EQ(fake.asked("POST /containers/abc/start"), 1);
  EXPECT_EQ(fake.asked("DELETE"), 0);
  const auto state = daemon.state("abc", 7010);
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_TRUE(state->running);
  EXPECT_EQ(state->address, "127.0.0.1:32768");
}

TEST_F(WorkerContainerTest, leaves_nothing_when_it_cannot_be_started) {
  for (const char* unwilling : {"PUT", "POST /containers/abc/start"}) {
    const FakeEngine fake(willing(unwilling));
    auto daemon = daemon_of(fake);
    const auto id = daemon.start(worker());
    ASSERT_FALSE(id) << unwilling;
    EXPECT_NE(id.error().message.find("no space left"), std::string::npos) << id.error().message;
    EXPECT_EQ(fake.asked("DELETE /containers/abc?force=true&v=true"), 1) << unwilling;
  }
}

TEST_F(WorkerContainerTest, of_a_daemon_that_is_busy_may_be_asked_again) {
  const FakeEngine busy(willing("GET /containers/abc/json"));
  const auto state = daemon_of(busy).state("abc", 7010);
  ASSERT_FALSE(state);
  EXPECT_TRUE(state.error().temporary) << state.error().message;
  const FakeEngine silent([](const std::string&) { return std::nullopt; });
  const auto unheard = daemon_of(silent).state("abc", 7010);
  ASSERT_FALSE(unheard);
  EXPECT_TRUE(unheard.error().temporary) << unheard.error().message;
  const FakeEngine without([](const std::string&) { return Answer{404, "{}"}; });
  const auto gone = daemon_of(without).state("abc", 7010);
  ASSERT_FALSE(gone);
  EXPECT_FALSE(gone.error().temporary) << gone.error().message;
}

TEST_F(WorkerContainerTest, that_ended_says_how) {
  const FakeEngine fake(willing("", kEnded));
  const auto state = daemon_of(fake).state("abc", 7010);
  ASSERT_TRUE(state);
  EXPECT_FALSE(state->running);
  EXPECT_EQ(state->ended, "ended with 4");
}

TEST_F(WorkerContainerTest, is_found_by_its_name_and_only_with_the_label) {
  const FakeEngine fake(willing(""));
  auto daemon = daemon_of(fake);
  EXPECT_EQ(daemon.find("w", "assay.placement").value_or(""), "abc");
  EXPECT_FALSE(daemon.find("other", "assay.placement"));
}

TEST_F(WorkerContainerTest, is_listed_with_its_age) {
  const FakeEngine fake([](const std::string& request) -> std::optional<Answer> {
    if (!request.starts_with("GET /containers/json?all=true&filters=")) return Answer{404, "{}"};
    return Answer{200, R"([{"Id":"abc","Names":["/w"],"State":"running","Created":1700000000,
                          "Labels":{"assay.placement":"m"}}, {"Id":"d","Names":[1],"Created":"x"}])"};
  });
  const auto found = daemon_of(fake).list("assay.placement");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0].name, "w");
  EXPECT_EQ((*found)[0].labels.at("assay.placement"), "m");
  EXPECT_EQ((*found)[0].status, "running");
  ASSERT_TRUE((*found)[0].created);
  EXPECT_EQ(format_utc(*(*found)[0].created), "2023-11-14T22:13:20.000Z");
  EXPECT_EQ((*found)[1].name, "");
  EXPECT_FALSE((*found)[1].created);
}

TEST(WorkerDaemon, of_another_machine_is_named_by_its_address) {
  EXPECT_TRUE(WorkerDaemon::open("tcp://10.0.0.7:2375", {}));
  EXPECT_FALSE(WorkerDaemon::open("tcp://node-7:2375", {}));
  EXPECT_FALSE(WorkerDaemon::open("node-7", {}));
}

TEST(ReadPublished, takes_the_port_that_was_given) {
  const auto read = [](const char* text) { return read_published(Json::parse(text), 7010); };
  EXPECT_EQ(read(kRunning), "127.0.0.1:32768");
  EXPECT_EQ(read(kEnded), "");
  EXPECT_EQ(read(R"({"NetworkSettings":{"Ports":{"7010/tcp":null}}})"), "");
}

}  // namespace
}  // namespace assay::launch
