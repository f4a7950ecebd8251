// SPDX-License-Identifier: Apache-2.0
#include "process/exit_text.h"

#include "process/testing.h"

#include <cerrno>
#include <csignal>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

Exit ended(int how, int status, bool oom = false) {
  Exit exit;
  set_status(exit, how, status);
  exit.oom_killed = oom;
  return exit;
}

TEST(ExitDetail, speaks_plainly) {
  EXPECT_EQ(exit_detail(ended(CLD_EXITED, 3), {}), "exited with code 3");
  EXPECT_EQ(exit_detail(ended(CLD_KILLED, SIGTERM), {}), "killed by SIGTERM");
  EXPECT_EQ(exit_detail(ended(CLD_DUMPED, SIGSEGV), {}), "killed by SIGSEGV (core dumped)");
  EXPECT_EQ(exit_detail(ended(CLD_KILLED, 40), {}), "killed by signal 40");
}

TEST(ExitDetail, names_the_limit_that_memory_ran_into) {
  constexpr uint64_t kLimit = 256U << 20U;
  EXPECT_EQ(exit_detail(ended(CLD_KILLED, SIGKILL, true), kLimit),
            "killed by the kernel: out of memory (limit 256 MiB)");
  EXPECT_EQ(exit_detail(ended(CLD_KILLED, SIGKILL, true), {}),
            "killed by the kernel: out of memory");
  EXPECT_EQ(exit_detail(ended(CLD_EXITED, 137, true), kLimit),
            "exited with code 137 after the kernel killed a process of it: out of memory (limit "
            "256 MiB)");
}

TEST(StartFailure, is_the_apps_or_the_machines) {
  StartOrder order;
  order.argv = {"nope"};
  order.workdir = "/nowhere";
  order.stdout_file = "/full/out";
  const auto of = [&](Stage stage, int error) {
    return start_failure(order, stage, error).value();
  };
  EXPECT_EQ(of(Stage::exec, ENOENT).message, "no such command: nope");
  EXPECT_EQ(of(Stage::exec, ENOENT).kind, ErrorKind::app);
  EXPECT_EQ(of(Stage::workdir, ENOENT).message,
            "cannot enter workdir /nowhere: No such file or directory");
  EXPECT_EQ(of(Stage::stdout_file, ENOSPC).kind, ErrorKind::environment);
  EXPECT_EQ(of(Stage::cgroup, EACCES).kind, ErrorKind::environment);
}

TEST(StartFailure, tells_a_forbidden_file_from_a_forbidden_folder_on_the_path) {
  const testing::TempFolder folder;
  folder.write("tool", "");
  StartOrder order;
  order.env = {"PATH=/no/such:" + folder.path().native()};
  order.argv = {"tool"};
  EXPECT_EQ(start_failure(order, Stage::exec, EACCES).value().message,
            "tool is not executable: see its permissions (chmod +x)");
  order.argv = {"other"};
  EXPECT_EQ(start_failure(order, Stage::exec, EACCES).value().message, "no such command: other");
}

}  // namespace
}  // namespace assay::launch
