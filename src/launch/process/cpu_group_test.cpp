// SPDX-License-Identifier: Apache-2.0
#include "process/cgroup.h"

#include <chrono>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/launch/cpu_group.h>
#include <gtest/gtest.h>

namespace assay::launch {
namespace {

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

/// Tenths of a core that a busy process got in half a second; 255 when it could not join.
int busy(CpuGroup& group) {
  if (!group.join()) return 255;
  const auto begin = std::chrono::steady_clock::now();
  const double before = cpu_seconds();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(500)) {
  }
  return static_cast<int>((cpu_seconds() - before) / 0.5 * 10);
}

std::string cpu_max(double cores) {
  probes::CgroupPaths paths;
  paths.unified = true;
  paths.v2 = "/g";
  const auto writes = turn_writes(paths, cores);
  EXPECT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes.at(0).file, "/g/cpu.max");
  return writes.at(0).value;
}

TEST(CpuTurns, have_a_longer_period_where_one_would_be_too_short) {
  EXPECT_EQ(cpu_max(2), "20000 10000");
  EXPECT_EQ(cpu_max(0.1), "1000 10000");
  EXPECT_EQ(cpu_max(0.05), "1000 20000");
  EXPECT_EQ(cpu_max(0.001), "1000 1000000");
  EXPECT_EQ(cpu_max(0.0001), "1000 1000000") << "the least that the kernel knows";
}

TEST(CpuTurns, are_set_before_their_period_in_v1) {
  probes::CgroupPaths paths;
  paths.cpu = "/c";
  EXPECT_EQ(turn_writes(paths, 0.5),
            (std::vector<LimitWrite>{{"cpu", "/c/cpu.cfs_quota_us", "5000"},
                                     {"cpu", "/c/cpu.cfs_period_us", "10000"}}));
}

TEST(CpuGroup, gives_those_in_it_no_more_than_its_share_and_goes_when_they_have) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  auto group = CpuGroup::make(1);
  if (!group) GTEST_SKIP() << group.error().message;
  ASSERT_TRUE(group->limit(0.3));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(busy(*group));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_LE(WEXITSTATUS(status), 4);
}

}  // namespace
}  // namespace assay::launch
