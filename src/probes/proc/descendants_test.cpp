// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/probes/probe.h>
#include <gtest/gtest.h>

namespace assay::probes {
namespace {
TEST(Descendants, finds_a_live_grandchild_and_leaves_out_zombies) {
  int ready[2];
  int hold[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(hold), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(hold[1]);
    const pid_t grandchild = fork();
    char byte = 0;
    if (grandchild != 0 && write(ready[1], &grandchild, sizeof grandchild) < 0) _exit(1);
    if (read(hold[0], &byte, 1) < 0) _exit(1);
    if (grandchild != 0) waitpid(grandchild, nullptr, 0);
    _exit(0);
  }
  pid_t grandchild = 0;
  ASSERT_EQ(read(ready[0], &grandchild, sizeof grandchild),
            static_cast<ssize_t>(sizeof grandchild));
  auto found = descendants(SysRoot(), getpid());
  std::sort(found.begin(), found.end());
  std::vector<pid_t> expected = {child, grandchild};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
  for (const int fd : {ready[0], ready[1], hold[0], hold[1]}) close(fd);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_TRUE(descendants(SysRoot(), getpid()).empty()) << "a zombie is not live";
  waitpid(child, nullptr, 0);
}
}  // namespace
}  // namespace assay::probes
