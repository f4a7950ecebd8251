// SPDX-License-Identifier: Apache-2.0
#include "process/cgroup.h"

#include "process/testing.h"

#include <filesystem>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

Limits all_limits() {
  Limits limits;
  limits.cpus = 1.5;
  limits.memory_bytes = 256U << 20U;
  limits.pids = 20;
  return limits;
}

TEST(LimitWrites, for_v2_go_into_its_one_folder) {
  probes::CgroupPaths paths;
  paths.unified = true;
  paths.v2 = "/g";
  EXPECT_EQ(limit_writes(paths, all_limits()),
            (std::vector<LimitWrite>{{"cpu", "/g/cpu.max", "150000 100000"},
                                     {"memory", "/g/memory.max", "268435456"},
                                     {"memory", "/g/memory.swap.max", "0", true},
                                     {"pids", "/g/pids.max", "20"}}));
}

TEST(LimitWrites, for_v1_go_into_each_controllers_folder) {
  probes::CgroupPaths paths;
  paths.cpu = "/c";
  paths.memory = "/m";
  paths.pids = "/p";
  EXPECT_EQ(
      limit_writes(paths, all_limits()),
      (std::vector<LimitWrite>{{"cpu", "/c/cpu.cfs_period_us", "100000"},
                               {"cpu", "/c/cpu.cfs_quota_us", "150000"},
                               {"memory", "/m/memory.limit_in_bytes", "268435456"},
                               {"memory", "/m/memory.memsw.limit_in_bytes", "268435456", true},
                               {"pids", "/p/pids.max", "20"}}));
}

TEST(LimitWrites, of_a_sliver_of_a_core_stay_above_what_the_kernel_refuses) {
  probes::CgroupPaths paths;
  paths.unified = true;
  paths.v2 = "/g";
  Limits limits;
  limits.cpus = 0.001;
  EXPECT_EQ(limit_writes(paths, limits).at(0).value, "1000 100000");
}

TEST(Cgroup, that_lacks_the_memory_controller_is_not_made) {
  const testing::TempFolder tree;
  std::filesystem::create_directories(tree.path() / "g");
  CgroupPlaces places;
  places.v2 = {{"/g", {"cpu"}, {}}};
  const auto group = Cgroup::make(SysRoot(tree.path()), places, "assay-x", {});
  ASSERT_FALSE(group);
  EXPECT_EQ(group.error().message, "/g hands no memory controller on");
  EXPECT_FALSE(std::filesystem::exists(tree.path() / "g/assay-x")) << "nothing may be left behind";
}

TEST(Cgroup, tells_where_it_may_not_be_made) {
  const testing::TempFolder tree;
  CgroupPlaces places;
  places.v1 = {{{"cpu", "cpuacct"}, "/none"}};
  const auto group = Cgroup::make(SysRoot(tree.path()), places, "assay-x", {});
  ASSERT_FALSE(group);
  EXPECT_EQ(group.error().message,
            "cannot make the control group /none/assay-x: No such file or directory");
}

TEST(Cgroup, keeps_the_hierarchies_that_work_and_notes_the_others) {
  const testing::TempFolder tree;
  std::filesystem::create_directories(tree.path() / "m");
  CgroupPlaces places;
  places.v1 = {{{"cpu", "cpuacct"}, "/none"}, {{"memory"}, "/m"}};
  {
    const auto group = Cgroup::make(SysRoot(tree.path()), places, "assay-x", {});
    ASSERT_TRUE(group);
    EXPECT_EQ(group->paths().memory, "/m/assay-x");
    EXPECT_TRUE(group->paths().cpu.empty());
    ASSERT_EQ(group->notes().size(), 1U);
    EXPECT_EQ(group->notes()[0].what, "control group of cpu,cpuacct");
    EXPECT_TRUE(std::filesystem::exists(tree.path() / "m/assay-x"));
  }
  EXPECT_FALSE(std::filesystem::exists(tree.path() / "m/assay-x"));
}

TEST(Cgroup, counts_oom_kills_of_either_version) {
  const testing::TempFolder tree;
  std::filesystem::create_directories(tree.path() / "m");
  CgroupPlaces places;
  places.v1 = {{{"memory"}, "/m"}};
  const auto group = Cgroup::make(SysRoot(tree.path()), places, "assay-x", {});
  ASSERT_TRUE(group);
  EXPECT_FALSE(oom_kills(SysRoot(tree.path()), group->paths())) << "not to be known is not zero";
  tree.write("m/assay-x/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
  EXPECT_EQ(oom_kills(SysRoot(tree.path()), group->paths()), 2U);
  std::filesystem::remove(tree.path() / "m/assay-x/memory.oom_control");
}

}  // namespace
}  // namespace assay::launch
