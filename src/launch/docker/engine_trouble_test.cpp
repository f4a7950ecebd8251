// SPDX-License-Identifier: Apache-2.0
#include "dataset/testing/script_server.h"
#include "docker/container_app.h"
#include "docker/orders.h"
#include "docker/testing/fake_engine.h"

#include <atomic>
#include <csignal>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using testing::Answer;
using testing::FakeEngine;

constexpr const char* kExited = R"({"Id":"abc","State":{"Status":"exited","ExitCode":3}})";
constexpr const char* kNotThere = R"({"message":"No such container: abc"})";

TEST(EngineTrouble, a_container_of_an_order_without_answer_is_removed_when_it_appears) {
  std::atomic<int> deletes = 0;
  const FakeEngine fake([&](const std::string& request) -> std::optional<Answer> {
    if (!request.starts_with("DELETE")) return std::nullopt;
    return ++deletes == 2 ? Answer{204, ""} : Answer{404, kNotThere};
  });
  Engine engine(fake.endpoint());
  const auto id = engine.create("assay-s-1", Json::object());
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().kind, ErrorKind::environment);
  EXPECT_EQ(id.error().message.find("assay cleanup"), std::string::npos) << id.error().message;
  EXPECT_EQ(fake.asked("DELETE /containers/assay-s-1?"), 2);
}

TEST(EngineTrouble, a_container_that_may_still_appear_is_told) {
  const FakeEngine fake([](const std::string&) { return std::nullopt; });
  Engine engine(fake.endpoint());
  const auto id = engine.create("assay-s-1", Json::object());
  ASSERT_FALSE(id);
  EXPECT_TRUE(id.error().message.ends_with(
      "; should it make the container assay-s-1 after all, `assay cleanup` removes it"))
      << id.error().message;
}

TEST(EngineTrouble, a_network_of_an_order_without_answer_is_removed_when_it_appears) {
  std::atomic<int> deletes = 0;
  const FakeEngine fake([&](const std::string& request) -> std::optional<Answer> {
    if (!request.starts_with("DELETE")) return std::nullopt;
    return ++deletes == 2 ? Answer{204, ""} : Answer{404, R"({"message":"not found"})"};
  });
  ASSERT_FALSE(Engine(fake.endpoint()).create_network("assay-s-1", Json::object()));
  EXPECT_EQ(fake.asked("DELETE /networks/assay-s-1"), 2);
}

TEST(EngineTrouble, a_refused_order_removes_nothing) {
  const FakeEngine fake([](const std::string&) {
    return Answer{409, R"({"message":"The container name is already in use"})"};
  });
  Engine engine(fake.endpoint());
  ASSERT_FALSE(engine.create("assay-s-1", Json::object()));
  EXPECT_EQ(fake.asked("DELETE"), 0);
}

TEST(EngineTrouble, a_container_that_others_are_removing_is_waited_for) {
  std::atomic<int> looks = 0;
  const FakeEngine fake([&](const std::string& request) {
    if (request.starts_with("DELETE"))
      return Answer{409, R"({"message":"removal of container abc is already in progress"})"};
    return ++looks < 3 ? Answer{200, kExited} : Answer{404, kNotThere};
  });
  Engine engine(fake.endpoint());
  EXPECT_TRUE(engine.remove("abc"));
  EXPECT_EQ(looks, 3);
}

TEST(EngineTrouble, a_container_that_others_did_not_remove_is_told) {
  const FakeEngine fake([](const std::string& request) -> std::optional<Answer> {
    if (!request.starts_with("DELETE")) return std::nullopt;
    return Answer{409, R"({"message":"removal of container abc is already in progress"})"};
  });
  Engine engine(fake.endpoint());
  const auto removed = engine.remove("abc");
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().message, "removal of container abc is already in progress");
}

TEST(EngineTrouble, a_signal_is_too_late_only_where_the_daemon_says_so) {
  const auto kind_of = [](int status, const char* message) {
    const FakeEngine fake([&](const std::string&) {
      return Answer{status, Json({{"message", message}}).dump()};
    });
    return Engine(fake.endpoint()).kill("abc", "SIGKILL").error().kind;
  };
  EXPECT_EQ(kind_of(404, "No such container: abc"), ErrorKind::input);
  EXPECT_EQ(kind_of(409, "Container abc is not running"), ErrorKind::input);
  EXPECT_EQ(kind_of(500,
                    "can only kill running containers. abc is in state exited: container "
                    "state improper"),
            ErrorKind::input);
  EXPECT_EQ(kind_of(500, "unknown error after kill: permission denied"), ErrorKind::environment);
  EXPECT_EQ(kind_of(403, "forbidden by a plugin"), ErrorKind::environment);
}

TEST(EngineTrouble, a_call_ends_when_it_is_not_wanted_any_more) {
  const FakeEngine fake([](const std::string&) { return Answer{0, "", true}; });
  Engine engine(fake.endpoint());
  int asked = 0;
  engine.set_wanted([&] { return ++asked < 3; });
  const auto info = engine.info();
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().message, "stopped while the container daemon was waited for");
}

TEST(EngineTrouble, what_is_not_wanted_any_more_is_still_removed) {
  const FakeEngine fake([](const std::string& request) {
    return request.starts_with("DELETE") ? Answer{204, ""} : Answer{0, "", true};
  });
  Engine engine(fake.endpoint());
  engine.set_wanted([] { return false; });
  ASSERT_FALSE(engine.create("assay-s-1", Json::object()));
  EXPECT_TRUE(engine.remove("abc"));
  EXPECT_EQ(fake.asked("DELETE"), 2);
}

TEST(EngineTrouble, a_daemon_that_was_silent_once_is_not_waited_for_as_long_again) {
  const FakeEngine fake([](const std::string&) { return Answer{0, "", true}; });
  Engine engine(fake.endpoint());
  engine.set_patience(Milliseconds(20));
  EXPECT_FALSE(engine.info());
  engine.set_patience(Milliseconds(60'000));
  const auto before = std::chrono::steady_clock::now();
  EXPECT_FALSE(engine.info());
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(10));
}

/// Attached to a daemon whose stream is over at once.
std::unique_ptr<LogPump> pump(const FakeEngine& fake) {
  auto logs = LogPump::start(fake.endpoint(), "abc", "", "");
  EXPECT_TRUE(logs);
  (*logs)->finish();
  EXPECT_TRUE((*logs)->ended());
  return std::move(*logs);
}

TEST(LogPump, the_streams_end_is_not_the_daemons_while_it_answers) {
  const FakeEngine fake([](const std::string&) { return Answer{200, ""}; });
  EXPECT_FALSE(pump(fake)->lost_daemon());
}

TEST(LogPump, a_daemon_that_answers_too_late_has_not_ended) {
  const FakeEngine fake([](const std::string& request) -> std::optional<Answer> {
    if (request.find("/attach") == std::string::npos) return std::nullopt;
    return Answer{200, ""};
  });
  EXPECT_FALSE(pump(fake)->lost_daemon());
}

TEST(LogPump, a_daemon_that_nobody_finds_afterwards_has_ended) {
  const FakeEngine fake([](const std::string&) { return Answer{200, "", false, true}; });
  EXPECT_TRUE(pump(fake)->lost_daemon());
}

TEST(LogPump, tells_when_it_gave_up_on_a_stream_that_does_not_end) {
  const FakeEngine fake([](const std::string&) { return Answer{200, "", true}; });
  auto logs = LogPump::start(fake.endpoint(), "abc", "", "");
  ASSERT_TRUE(logs);
  EXPECT_FALSE((*logs)->gave_up());
  (*logs)->finish();
  EXPECT_TRUE((*logs)->gave_up());
}

pid_t start_sleep(const char* seconds) {
  char name[] = "sleep";
  std::string time = seconds;
  char* const argv[] = {name, time.data(), nullptr};
  pid_t pid = 0;
  EXPECT_EQ(::posix_spawn(&pid, "/bin/sleep", nullptr, nullptr, argv, environ), 0);
  return pid;
}

/// An app that runs, at a daemon that answers, with its output over.
class ContainerApp : public ::testing::Test {
 protected:
  void SetUp() override {
    StartedContainer container;
    container.id = "abc";
    container.pid = pid_;
    container.logs = pump(fake_);
    auto app = watch_container(fake_.endpoint(), std::move(container));
    ASSERT_TRUE(app) << app.error().message;
    app_ = std::move(*app);
    EXPECT_FALSE(app_->exited());
  }
  Exit end() {
    ::kill(pid_, SIGKILL);
    EXPECT_TRUE(testing::wait_readable(app_->exit_fd()));
    ::waitpid(pid_, nullptr, 0);
    EXPECT_TRUE(app_->exited());
    return app_->release();
  }
  std::vector<std::string> notes_about_output() const {
    std::vector<std::string> why;
    for (const auto& note : app_->notes()) {
      if (note.what == "app's output") why.push_back(note.why);
    }
    return why;
  }

  const pid_t pid_ = start_sleep("600");
  const FakeEngine fake_{[](const std::string& request) {
    return request.starts_with("GET") ? Answer{200, kExited} : Answer{200, ""};
  }};
  std::unique_ptr<RunningApp> app_;
};

TEST_F(ContainerApp, that_closes_its_output_before_its_end_does_not_blame_the_daemon) {
  EXPECT_EQ(end().detail, "exited with code 3");
  EXPECT_TRUE(notes_about_output().empty());
  EXPECT_FALSE(app_->left_behind());
}

TEST_F(ContainerApp, whose_output_was_cut_off_is_told_once_it_has_run_on_for_a_while) {
  EXPECT_FALSE(testing::wait_readable(app_->exit_fd(), 1100)) << "it runs on";
  EXPECT_FALSE(app_->exited());
  EXPECT_EQ(end().detail, "exited with code 3");
  EXPECT_EQ(notes_about_output(),
            std::vector<std::string>{"its stream ended while the app went on; what the app wrote "
                                     "afterwards is not kept"});
}

int signal_after_refusal(int status, const char* message) {
  const pid_t pid = start_sleep("600");
  const FakeEngine fake([&](const std::string& request) {
    if (request.starts_with("GET")) return Answer{200, "{}"};
    return Answer{status, Json({{"message", message}}).dump()};
  });
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  { Orders(fake.endpoint(), "abc", process.get()).stop(StopStep::terminate); }
  ::kill(pid, SIGKILL);
  int ended = 0;
  ::waitpid(pid, &ended, 0);
  return WTERMSIG(ended);
}

TEST(Orders, that_the_daemon_refuses_reach_the_app_without_it) {
  EXPECT_EQ(signal_after_refusal(500, "permission denied"), SIGTERM);
}

TEST(Orders, about_a_container_that_has_ended_signal_nobody) {
  EXPECT_EQ(signal_after_refusal(409, "Container abc is not running"), SIGKILL);
}

TEST(Containers, of_an_engine_without_root_cannot_reach_playback) {
  const FakeEngine fake([](const std::string& request) {
    if (request == "GET /info")
      return Answer{200, R"({"SecurityOptions":["name=seccomp","name=rootless"]})"};
    return Answer{200, R"({"ApiVersion":"1.41","IPAM":{"Config":[{"Gateway":"10.88.0.1"}]}})"};
  });
  const testing::ScopedVariable host("DOCKER_HOST",
                                     "unix://" + fake.endpoint().unix_socket.native());
  const auto containers = find_containers();
  ASSERT_TRUE(containers) << containers.error().message;
  const auto address = (*containers)->host_address({}, nullptr);
  ASSERT_FALSE(address);
  EXPECT_TRUE(address.error().message.starts_with("playback cannot be reached from"))
      << address.error().message;
}

TEST(DockerLauncher, an_app_that_ended_before_its_engine_noticed_was_here) {
  const pid_t pid = start_sleep("0");
  siginfo_t ended = {};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT), 0);
  std::atomic<int> looks = 0;
  const FakeEngine fake([&](const std::string& request) -> std::optional<Answer> {
    if (request == "GET /version") return Answer{200, R"({"ApiVersion":"1.41","Arch":"amd64"})"};
    if (request.starts_with("POST /containers/create")) return Answer{201, R"({"Id":"abc123"})"};
    if (request != "GET /containers/abc123/json") return Answer{200, request[0] == 'G' ? "{}" : ""};
    // Once before the start, then a few times as if it still ran.
    if (++looks == 1) return Answer{200, "{}"};
    if (looks > 4) return Answer{200, kExited};
    return Answer{200, fmt::format(R"({{"State":{{"Status":"running","Pid":{}}}}})", pid)};
  });
  const testing::ScopedVariable host("DOCKER_HOST",
                                     "unix://" + fake.endpoint().unix_socket.native());
  const auto containers = find_containers();
  ASSERT_TRUE(containers) << containers.error().message;
  Request request;
  request.session_id = "s";
  request.run = 1;
  request.target.image = "waggle/app:1";
  auto app = (*containers)->launcher()->start(request);
  ASSERT_TRUE(app) << app.error().message;
  EXPECT_EQ((*app)->release().code, 3);
  ::waitpid(pid, nullptr, 0);
}

}  // namespace
}  // namespace assay::launch
