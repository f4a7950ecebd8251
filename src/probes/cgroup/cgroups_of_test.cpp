// SPDX-License-Identifier: Apache-2.0
#include "test_support.h"

#include <filesystem>
#include <fmt/format.h>

#include <assay/probes/group.h>
#include <gtest/gtest.h>

namespace assay::probes {
namespace {
namespace fs = std::filesystem;

TEST(CgroupsOf, finds_co_mounted_v1_controllers) {
  const auto paths = cgroups_of(sysroot("x86-server-cgroup-v1"), 900);
  EXPECT_FALSE(paths.unified);
  EXPECT_EQ(paths.cpu, "/sys/fs/cgroup/cpu,cpuacct/docker/4f2a");
  EXPECT_EQ(paths.cpuacct, paths.cpu);
  EXPECT_EQ(paths.memory, "/sys/fs/cgroup/memory/docker/4f2a");
  EXPECT_EQ(paths.blkio, "/sys/fs/cgroup/blkio/docker/4f2a");
  EXPECT_EQ(paths.pids, "/sys/fs/cgroup/pids/docker/4f2a");
  EXPECT_EQ(paths.v2, "") << "the v2 hierarchy beside v1 has no controllers";
}

TEST(CgroupsOf, finds_v2) {
  const auto paths = cgroups_of(sysroot("container-cgroup-v2"), 700);
  EXPECT_TRUE(paths.unified);
  EXPECT_EQ(paths.v2, "/sys/fs/cgroup/system.slice/docker-77aa.scope");
  EXPECT_EQ(paths.memory, "");
}

TEST(CgroupsOf, does_not_name_the_machines_root_group) {
  EXPECT_TRUE(cgroups_of(sysroot("x86-server-cgroup-v1"), 1).empty());
  EXPECT_TRUE(cgroups_of(sysroot("container-cgroup-v2"), 1).empty());
  EXPECT_TRUE(cgroups_of(sysroot("container-cgroup-v2"), 12345).empty()) << "no such process";
}

TEST(CgroupsOf, reads_the_capture_of_a_machine_with_one_mount_per_controller) {
  const auto paths = cgroups_of(sysroot("vm-cgroup-v1"), 4242);
  EXPECT_EQ(paths.cpu, "/sys/fs/cgroup/cpu/app");
  EXPECT_EQ(paths.cpuacct, "/sys/fs/cgroup/cpuacct/app");
  EXPECT_EQ(paths.memory, "/sys/fs/cgroup/memory/app");
}

TEST(CgroupsOf, understands_a_mount_of_a_part_of_the_hierarchy) {
  std::string pattern = fs::temp_directory_path() / "assay-cgroups-XXXXXX";
  const fs::path dir = mkdtemp(pattern.data());
  fs::create_directories(dir / "proc/self");
  fs::create_directories(dir / "proc/5");
  fs::create_directories(dir / "mnt/c g/inner");
  ASSERT_TRUE(write_file(dir / "proc/self/mountinfo",
                         "1 1 0:1 /docker/x /mnt/c\\040g rw - cgroup2 cgroup2 rw\n"));
  ASSERT_TRUE(write_file(dir / "proc/5/cgroup", "0::/docker/x/inner\n"));
  EXPECT_EQ(cgroups_of(SysRoot(dir), 5).v2, "/mnt/c g/inner");
  ASSERT_TRUE(write_file(dir / "proc/5/cgroup", "0::/elsewhere\n"));
  EXPECT_EQ(cgroups_of(SysRoot(dir), 5).v2, "");
  fs::remove_all(dir);
}

TEST(GroupTree, has_the_same_group_of_v1_in_each_hierarchy) {
  const GroupTree tree(sysroot("x86-server-cgroup-v1"));
  EXPECT_FALSE(tree.unified());
  EXPECT_EQ(tree.folder(), "/sys/fs/cgroup/cpu,cpuacct");
  const CgroupPaths paths = tree.at("/docker/4f2a");
  EXPECT_EQ(paths.cpuacct, "/sys/fs/cgroup/cpu,cpuacct/docker/4f2a");
  EXPECT_EQ(paths.memory, "/sys/fs/cgroup/memory/docker/4f2a");
  EXPECT_EQ(paths.v2, "");
  EXPECT_EQ(tree.at("/docker/new").memory, "/sys/fs/cgroup/memory/docker/new")
      << "made there a moment later";
  EXPECT_EQ(tree.path_of(900), "/docker/4f2a");
  EXPECT_EQ(tree.path_of(12345), "") << "no such process";
}

TEST(GroupTree, of_v2_seen_from_a_container_is_that_of_the_machine) {
  std::string pattern = fs::temp_directory_path() / "assay-cgroups-XXXXXX";
  const fs::path dir = mkdtemp(pattern.data());
  const auto write = [&](const std::string& file, const std::string& text) {
    fs::create_directories((dir / file).parent_path());
    ASSERT_TRUE(write_file(dir / file, text));
  };
  write("proc/self/mountinfo", "1 1 0:1 /../../.. /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  write("proc/self/stat", "41 (assay-agent) S 1\n");
  for (const char* group : {"kubepods", "kubepods/p1", "kubepods/p2", "system"})
    write(fmt::format("sys/fs/cgroup/{}/cgroup.procs", group), "");
  write("sys/fs/cgroup/kubepods/p2/app/cgroup.procs", "7\n4\n");
  write("sys/fs/cgroup/kubepods/p1/agent/cgroup.procs", "40\n41\n");
  write("proc/41/cgroup", "0::/\n");
  write("proc/7/cgroup", "0::/../../p2/app\n");
  write("proc/1/cgroup", "0::/../../../system\n");
  const GroupTree tree{SysRoot(dir)};
  EXPECT_EQ(tree.path_of(41), "/kubepods/p1/agent");
  EXPECT_EQ(tree.path_of(7), "/kubepods/p2/app");
  EXPECT_EQ(tree.path_of(1), "/system");
  EXPECT_EQ(tree.at(tree.path_of(7)).v2, "/sys/fs/cgroup/kubepods/p2/app");
  fs::remove_all(dir);
}

TEST(GroupTree, of_v2_is_one) {
  const GroupTree tree(sysroot("container-cgroup-v2"));
  EXPECT_TRUE(tree.unified());
  EXPECT_EQ(tree.at("/system.slice/docker-77aa.scope").v2,
            tree.folder() + "/system.slice/docker-77aa.scope");
}

}  // namespace
}  // namespace assay::probes
