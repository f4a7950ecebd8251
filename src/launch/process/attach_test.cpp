// SPDX-License-Identifier: Apache-2.0
#include "process/testing.h"

#include <csignal>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

/// A process of the test's own that does nothing until it is killed.
class Sleeper {
 public:
  Sleeper() : pid_(::fork()) {
    while (pid_ == 0) ::pause();
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(Attach, sees_the_process_end) {
  const Sleeper sleeper;
  const auto app = attach(sleeper.pid());
  ASSERT_TRUE(app);
  EXPECT_EQ((*app)->isolation(), "attached");
  EXPECT_EQ((*app)->target().root, sleeper.pid());
  EXPECT_TRUE((*app)->target().include_root);
  EXPECT_FALSE((*app)->exited());
  ::kill(sleeper.pid(), SIGKILL);
  const Exit exit = testing::wait_exit(**app);
  EXPECT_EQ(exit.detail, "ended while watched");
  EXPECT_FALSE(exit.code || exit.signal) << "only a parent is told that";
}

TEST(Attach, to_stop_is_only_to_stop_watching) {
  const Sleeper sleeper;
  const auto app = attach(sleeper.pid());
  ASSERT_TRUE(app);
  (*app)->stop(StopStep::kill);
  EXPECT_EQ(testing::wait_exit(**app).detail, "still running when the watching ended");
  (*app)->release();
  EXPECT_TRUE(testing::is_running(sleeper.pid()));
}

TEST(Attach, takes_a_group_that_is_the_trees_own) {
  if (!testing::can_make_groups()) GTEST_SKIP() << "no control group can be made here";
  const testing::TempFolder folder;
  testing::make_fifo(folder.path() / "ready");
  const auto kept = testing::start(testing::shell(folder, "sleep 600 & echo $$ > ready; wait"));
  ASSERT_TRUE(kept);
  const auto app = attach(testing::to_pid(testing::read_line_from_fifo(folder.path() / "ready")));
  ASSERT_TRUE(app);
  EXPECT_EQ((*app)->target().cgroup.memory, kept->target().cgroup.memory);
  EXPECT_EQ((*app)->target().cgroup.v2, kept->target().cgroup.v2);
  EXPECT_TRUE((*app)->notes().empty());
}

TEST(Attach, leaves_a_group_that_others_share) {
  const Sleeper sleeper;  // in the group of the test
  const auto app = attach(sleeper.pid());
  ASSERT_TRUE(app);
  EXPECT_TRUE((*app)->target().cgroup.empty());
  EXPECT_EQ((*app)->notes().size(), 1U);
}

TEST(Attach, leaves_a_group_with_processes_that_cannot_be_seen) {
  const Sleeper sleeper;
  const testing::TempFolder machine;
  machine.write("proc/self/mountinfo", "30 20 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
  machine.write(fmt::format("proc/{}/cgroup", sleeper.pid()), "0::/pod\n");
  const auto group_with = [&](const std::string& members) {
    machine.write("cg/pod/cgroup.procs", members);
    const auto app = attach(sleeper.pid(), SysRoot(machine.path()));
    return app ? (*app)->target().cgroup.v2 : app.error().message;
  };
  EXPECT_EQ(group_with(fmt::format("{}\n", sleeper.pid())), "/cg/pod");
  EXPECT_EQ(group_with(fmt::format("{}\n0\n", sleeper.pid())), "");
}

TEST(Attach, to_nobody_is_an_error_of_input) {
  pid_t gone = 0;
  {
    const Sleeper sleeper;
    gone = sleeper.pid();
  }
  for (const pid_t pid : {gone, 0, -5}) {
    const auto app = attach(pid);
    ASSERT_FALSE(app) << pid;
    EXPECT_EQ(app.error().kind, ErrorKind::input) << pid;
  }
}

TEST(Attach, without_permission_says_what_would_help) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const Sleeper sleeper;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(2);
    const auto app = attach(sleeper.pid());
    const bool right = !app && app.error().kind == ErrorKind::environment &&
                       app.error().message.find("sudo") != std::string::npos;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace assay::launch
