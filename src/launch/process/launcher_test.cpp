// SPDX-License-Identifier: Apache-2.0
#include "process/owner.h"
#include "process/testing.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include <assay/base/text.h>
#include <gtest/gtest.h>

namespace assay::launch {
namespace {

namespace fs = std::filesystem;
using testing::shell;
using testing::TempFolder;

/// A script that leaves a child in a session of its own, whose pid comes through the fifo "ready".
constexpr const char* kEscape =
    "(setsid sh -c 'trap \"\" TERM HUP; echo $$ > ready; while :; do sleep 600; done' &) ; ";

TEST(ProcessLauncher, reports_the_exit_code) {
  const TempFolder folder;
  const auto app = testing::start(shell(folder, "exit 3"));
  ASSERT_TRUE(app);
  const Exit exit = testing::wait_exit(*app);
  EXPECT_EQ(exit.code, 3);
  EXPECT_FALSE(exit.signal);
  EXPECT_EQ(exit.detail, "exited with code 3");
  EXPECT_EQ(app->release().code, 3);
}

TEST(ProcessLauncher, reports_the_signal) {
  const TempFolder folder;
  const auto app = testing::start(shell(folder, "kill -TERM $$"));
  ASSERT_TRUE(app);
  const Exit exit = testing::wait_exit(*app);
  EXPECT_EQ(exit.signal, SIGTERM);
  EXPECT_FALSE(exit.code);
  EXPECT_FALSE(exit.oom_killed);
  EXPECT_EQ(exit.detail, "killed by SIGTERM");
}

TEST(ProcessLauncher, says_nothing_while_the_app_runs) {
  const TempFolder folder;
  const auto app = testing::start(shell(folder, "exec sleep 600"));
  ASSERT_TRUE(app);
  EXPECT_FALSE(app->exited());
  EXPECT_FALSE(testing::wait_readable(app->exit_fd(), 0));
}

Error start_error(const TempFolder& folder, std::vector<std::string> command) {
  Request request = shell(folder, "");
  request.target.command = std::move(command);
  const auto app = testing::launched(request);
  EXPECT_FALSE(app);
  return app ? Error{} : app.error();
}

TEST(ProcessLauncher, names_a_command_that_is_missing) {
  const TempFolder folder;
  const Error error = start_error(folder, {"no-such-command-here", "x"});
  EXPECT_EQ(error.kind, ErrorKind::app);
  EXPECT_EQ(error.message, "no such command: no-such-command-here");
}

TEST(ProcessLauncher, names_a_file_that_is_not_executable) {
  const TempFolder folder;
  folder.write("plain", "#!/bin/sh\n");
  const Error error = start_error(folder, {"./plain"});
  EXPECT_EQ(error.kind, ErrorKind::app);
  EXPECT_EQ(error.message, "./plain is not executable: see its permissions (chmod +x)");
}

TEST(ProcessLauncher, tells_a_missing_interpreter_from_a_missing_command) {
  const TempFolder folder;
  folder.write("script", "#!/no/such/python\n");
  fs::permissions(folder.path() / "script", fs::perms::owner_all);
  EXPECT_EQ(start_error(folder, {"./script"}).message,
            "./script cannot start: the interpreter it names is missing");
}

TEST(ProcessLauncher, names_a_workdir_that_is_missing) {
  const TempFolder folder;
  Request request = shell(folder, "true");
  request.target.workdir = "/no/such/folder";
  const auto app = testing::launched(request);
  ASSERT_FALSE(app);
  EXPECT_EQ(app.error().message, "cannot enter workdir /no/such/folder: No such file or directory");
}

TEST(ProcessLauncher, names_a_log_that_cannot_be_opened) {
  const TempFolder folder;
  Request request = shell(folder, "true");
  request.stderr_file = "/no/such/folder/err";
  const auto app = testing::launched(request);
  ASSERT_FALSE(app);
  EXPECT_EQ(app.error().kind, ErrorKind::environment);
  EXPECT_EQ(app.error().message, "cannot open /no/such/folder/err: No such file or directory");
}

TEST(ProcessLauncher, passes_arguments_and_environment_on) {
  const TempFolder folder;
  Request request = shell(folder, "");
  request.target.command = {
      "/bin/sh", "-c",        "printf '%s;' \"$@\" \"$NOTE\" \"$ASSAY_RUN\" \"$ASSAY_SOCKET\"",
      "sh",      "two words", "",
      "$x"};
  request.target.env = {{"NOTE", "a=b"}};
  request.socket = "/run/x.sock";
  const auto app = testing::start(request);
  ASSERT_TRUE(app);
  testing::wait_exit(*app);
  EXPECT_EQ(folder.read("out"), "two words;;$x;a=b;" + request.session_id + "/1;/run/x.sock;");
}

TEST(ProcessLauncher, finds_the_command_in_the_apps_own_path) {
  const TempFolder folder;
  folder.write("bin/hello", "#!/bin/sh\necho hi\n");
  fs::permissions(folder.path() / "bin/hello", fs::perms::owner_all);
  Request request = shell(folder, "");
  request.target.command = {"hello"};
  request.target.env = {{"PATH", (folder.path() / "bin").native() + ":/bin"}};
  const auto app = testing::start(request);
  ASSERT_TRUE(app);
  EXPECT_EQ(testing::wait_exit(*app).code, 0);
  EXPECT_EQ(folder.read("out"), "hi\n");
}

TEST(ProcessLauncher, carries_an_environment_of_a_megabyte) {
  const TempFolder folder;
  Request request = shell(folder, "printf %s \"$V7\" | wc -c");
  for (int i = 0; i < 10; ++i) {
    request.target.env["V" + std::to_string(i)] = std::string(100'000, 'x');
  }
  const auto app = testing::start(request);
  ASSERT_TRUE(app);
  EXPECT_EQ(testing::wait_exit(*app).code, 0);
  EXPECT_EQ(folder.read("out"), "100000\n");
}

TEST(ProcessLauncher, gives_workdir_empty_input_and_files_for_output) {
  const TempFolder folder;
  folder.write("out", "before\n");
  const auto app = testing::start(shell(folder, "pwd; cat; echo bad >&2"));
  ASSERT_TRUE(app);
  testing::wait_exit(*app);
  EXPECT_EQ(folder.read("out"), "before\n" + fs::canonical(folder.path()).native() + "\n");
  EXPECT_EQ(folder.read("err"), "bad\n");
}

TEST(ProcessLauncher, keeps_the_output_for_its_user_alone) {
  const TempFolder folder;
  const auto app = testing::start(shell(folder, "umask 0"));
  ASSERT_TRUE(app);
  testing::wait_exit(*app);
  for (const char* name : {"out", "err"}) {
    EXPECT_EQ(fs::status(folder.path() / name).permissions(),
              fs::perms::owner_read | fs::perms::owner_write)
        << name;
  }
}

TEST(ProcessLauncher, starts_the_app_with_clean_signals) {
  const TempFolder folder;
  Request request = shell(folder, "");
  request.target.command = {"sed", "-n", "s/^SigBlk://p; s/^SigIgn://p", "/proc/self/status"};
  ::signal(SIGUSR1, SIG_IGN);
  const auto app = testing::start(request);
  ::signal(SIGUSR1, SIG_DFL);
  ASSERT_TRUE(app);
  testing::wait_exit(*app);
  std::stringstream masks(folder.read("out"));
  uint64_t blocked = ~0ULL;
  uint64_t ignored = ~0ULL;
  masks >> std::hex >> blocked >> ignored;
  EXPECT_EQ(blocked, 0U);
  // Two signals belong to the C library, which lets nobody change them.
  constexpr uint64_t kReserved = 3ULL << 31U;
  EXPECT_EQ(ignored & ~kReserved, 0U);
}

TEST(ProcessLauncher, hands_no_descriptor_on) {
  const TempFolder folder;
  const Fd leaked(::open("/dev/null", O_RDONLY));
  const auto app = testing::start(shell(folder, "ls /proc/$$/fd"));
  ASSERT_TRUE(app);
  testing::wait_exit(*app);
  EXPECT_EQ(folder.read("out"), "0\n1\n2\n");
}

TEST(ProcessLauncher, keeps_the_ended_app_readable_until_release) {
  const TempFolder folder;
  const auto app = testing::start(shell(folder, "echo $$"));
  ASSERT_TRUE(app);
  testing::wait_exit(*app);
  const pid_t pid = testing::to_pid(folder.read("out"));
  const auto stat = read_stat(SysRoot(), pid);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'Z');
  EXPECT_EQ(stat->parent, app->target().root);
  app->release();
  EXPECT_FALSE(read_stat(SysRoot(), pid));
}

TEST(ProcessLauncher, totals_cover_children_that_were_left_to_us) {
  const TempFolder folder;
  testing::make_fifo(folder.path() / "ready");
  // The child that works is an orphan when it works, and has ended before the main process does.
  const auto app = testing::start(shell(folder,
                                        "(sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); "
                                        "done; echo $$ > ready' &); read x < ready"));
  ASSERT_TRUE(app);
  testing::wait_exit(*app);
  const Exit exit = app->release();
  ASSERT_TRUE(exit.user_seconds && exit.system_seconds);
  EXPECT_GT(*exit.user_seconds, 0.02);
  EXPECT_LT(*exit.user_seconds + *exit.system_seconds, 30);
}

TEST(ProcessLauncher, tells_the_largest_process_but_not_what_was_ours_before_exec) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "what begins as a copy of a sanitized program is larger than the app";
#endif
  const TempFolder folder;
  const auto largest = [&](const char* script) {
    const auto app = testing::start(shell(folder, script));
    testing::wait_exit(*app);
    return app->release().max_rss_bytes;
  };
  EXPECT_FALSE(largest("exec true")) << "smaller than the copy of ourselves that it began as";
  const auto large = largest("head -c 67108864 /dev/zero | tail -c 67108864 > /dev/null");
  ASSERT_TRUE(large);
  EXPECT_GE(*large, 64U << 20U);
  EXPECT_LT(*large, 128U << 20U);
}

TEST(ProcessLauncher, release_ends_children_that_left_for_another_session) {
  const TempFolder folder;
  testing::make_fifo(folder.path() / "ready");
  const auto app = testing::start(shell(folder, kEscape));
  ASSERT_TRUE(app);
  const pid_t child = testing::to_pid(testing::read_line_from_fifo(folder.path() / "ready"));
  testing::wait_exit(*app);
  ASSERT_TRUE(testing::is_running(child));
  const std::string group = app->target().cgroup.memory;
  app->release();
  EXPECT_FALSE(testing::is_running(child));
  EXPECT_FALSE(!group.empty() && fs::exists(group));
}

TEST(ProcessLauncher, destroying_a_running_app_ends_its_whole_tree) {
  const TempFolder folder;
  testing::make_fifo(folder.path() / "ready");
  auto app = testing::start(shell(folder, std::string(kEscape) + "exec sleep 600"));
  ASSERT_TRUE(app);
  const pid_t child = testing::to_pid(testing::read_line_from_fifo(folder.path() / "ready"));
  const std::string group = app->target().cgroup.memory;
  app.reset();
  EXPECT_FALSE(testing::is_running(child));
  EXPECT_FALSE(!group.empty() && fs::exists(group));
}

TEST(ProcessLauncher, stops_step_by_step) {
  const TempFolder folder;
  const fs::path ready = folder.path() / "ready";
  testing::make_fifo(ready);
  Request request = shell(folder, "");
  request.target.command = {fs::read_symlink("/proc/self/exe"), "tell-signals", ready};
  const auto app = testing::start(request);
  ASSERT_TRUE(app);
  EXPECT_EQ(testing::read_line_from_fifo(ready), "up");
  app->stop(StopStep::interrupt);
  EXPECT_EQ(testing::read_line_from_fifo(ready), std::to_string(SIGINT));
  app->stop(StopStep::terminate);
  EXPECT_EQ(testing::read_line_from_fifo(ready), std::to_string(SIGTERM));
  EXPECT_FALSE(app->exited());
  app->stop(StopStep::kill);
  EXPECT_EQ(testing::wait_exit(*app).signal, SIGKILL);
}

TEST(ProcessLauncher, terminate_reaches_children_in_another_session) {
  const TempFolder folder;
  testing::make_fifo(folder.path() / "ready");
  const auto app = testing::start(
      shell(folder, "(setsid sh -c 'echo $$ > ready; exec sleep 600' &); exec sleep 600"));
  ASSERT_TRUE(app);
  const pid_t child = testing::to_pid(testing::read_line_from_fifo(folder.path() / "ready"));
  app->stop(StopStep::terminate);
  EXPECT_TRUE(testing::wait_gone(child));
  EXPECT_EQ(testing::wait_exit(*app).signal, SIGTERM);
}

TEST(ProcessLauncher, nothing_outlives_an_assay_that_was_killed) {
  const TempFolder folder;
  std::string line;
  const pid_t owner = testing::spawn_owner(
      folder, "echo $PPID > keeper; " + std::string(kEscape) + "exec sleep 600", line);
  const pid_t child = testing::to_pid(line);
  const pid_t keeper = testing::to_pid(folder.read("keeper"));
  ASSERT_TRUE(testing::is_running(child));
  ASSERT_TRUE(testing::is_running(keeper));
  const auto groups = testing::own_group_folders(child);
  EXPECT_EQ(groups.empty(), !testing::can_make_groups());
  testing::kill_owner(owner);
  EXPECT_TRUE(testing::wait_gone(child));
  EXPECT_TRUE(testing::wait_gone(keeper));
  for (const auto& group : groups) EXPECT_FALSE(fs::exists(group)) << group;
}

TEST(ProcessLauncher, an_app_whose_keeper_was_killed_ends_and_is_cleared_away) {
  const TempFolder folder;
  testing::make_fifo(folder.path() / "ready");
  const auto app = testing::start(shell(folder, std::string(kEscape) + "exec sleep 600"));
  ASSERT_TRUE(app);
  const pid_t child = testing::to_pid(testing::read_line_from_fifo(folder.path() / "ready"));
  ::kill(app->target().root, SIGKILL);
  const Exit exit = testing::wait_exit(*app);
  EXPECT_EQ(exit.detail, "ended because its keeper process was killed");
  app->release();
  EXPECT_TRUE(testing::wait_gone(child));
}

TEST(ProcessLauncher, a_program_that_is_no_keeper_does_not_start_itself_forever) {
  const TempFolder folder;
  ::setenv("ASSAY_KEEPER", "1", 1);  // NOLINT(concurrency-mt-unsafe): the test has one thread
  const auto app = testing::launched(shell(folder, "true"));
  ::unsetenv("ASSAY_KEEPER");  // NOLINT(concurrency-mt-unsafe): as above
  ASSERT_FALSE(app);
  EXPECT_EQ(app.error().kind, ErrorKind::internal);
}

TEST(ProcessLauncher, start_to_exec_is_quick) {
  const TempFolder folder;
  std::vector<double> milliseconds;
  for (int run = 1; run <= 11; ++run) {
    Request request = shell(folder, "", run);
    request.target.command = {"/bin/true"};
    const auto before = std::chrono::steady_clock::now();
    const auto app = testing::start(request);
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - before;
    ASSERT_TRUE(app);
    milliseconds.push_back(took.count());
    EXPECT_EQ(testing::wait_exit(*app).code, 0);
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  std::printf("start() to exec: median %.2f ms, worst %.2f ms\n",
              milliseconds[milliseconds.size() / 2], milliseconds.back());
}

/// A v1 hierarchy in which groups can be made and nobody can join them.
struct ClosedMachine {
  ClosedMachine() {
    tree.write("proc/self/mountinfo", "25 20 0:22 / /cg rw - cgroup cgroup rw,memory\n");
    tree.write("proc/self/cgroup", "4:memory:/\n");
    tree.write("cg/cgroup.procs", "");
  }
  TempFolder tree;
};

TEST(Launcher, runs_an_app_outside_of_groups_that_cannot_be_joined_and_says_so) {
  const ClosedMachine machine;
  const TempFolder folder;
  const auto app = testing::launched(shell(folder, "exit 3"), SysRoot(machine.tree.path()));
  ASSERT_TRUE(app) << app.error().message;
  EXPECT_EQ(testing::wait_exit(**app).code, 3);
  EXPECT_EQ((*app)->isolation(), "process tree");
  ASSERT_EQ((*app)->notes().size(), 1U);
  EXPECT_EQ((*app)->notes()[0].what, "own control group");
  EXPECT_TRUE((*app)->notes()[0].why.starts_with("cannot move a process into a control group: "));
}

}  // namespace
}  // namespace assay::launch
