// SPDX-License-Identifier: Apache-2.0
#include "process/cgroup_places.h"

#include "process/testing.h"

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using Names = std::vector<std::string>;

/// A captured machine. Only what find_cgroup_places looks at is in it.
class CgroupPlacesOf : public ::testing::Test {
 protected:
  void mounts(const std::string& text) { tree.write("proc/self/mountinfo", text); }
  void groups(const std::string& text) { tree.write("proc/self/cgroup", text); }
  void group(const std::string& folder, const std::string& controllers,
             const std::string& enabled) {
    tree.write(folder.substr(1) + "/cgroup.controllers", controllers + "\n");
    tree.write(folder.substr(1) + "/cgroup.subtree_control", enabled + "\n");
  }
  CgroupPlaces found() const { return find_cgroup_places(SysRoot(tree.path())); }

  testing::TempFolder tree;
};

TEST_F(CgroupPlacesOf, hybrid_v1_are_our_own_groups_in_each_hierarchy) {
  mounts(
      "30 24 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
      "31 30 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
      "32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
      "33 30 0:29 / /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory\n"
      "34 30 0:30 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n");
  groups("4:memory:/user.slice\n3:cpu,cpuacct:/\n2:freezer:/\n0::/\n");
  tree.write("sys/fs/cgroup/memory/user.slice/cgroup.procs", "");
  const auto places = found();
  EXPECT_TRUE(places.v2.empty());
  ASSERT_EQ(places.v1.size(), 2U) << "freezer is not wanted";
  EXPECT_EQ(places.v1[0].controllers, (Names{"cpu", "cpuacct"}));
  EXPECT_EQ(places.v1[0].parent, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(places.v1[1].controllers, (Names{"memory"}));
  EXPECT_EQ(places.v1[1].parent, "/sys/fs/cgroup/memory/user.slice");
}

TEST_F(CgroupPlacesOf, a_v1_container_start_at_its_own_mount) {
  mounts(
      "33 30 0:29 /docker/ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "34 30 0:30 /docker/ab /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n");
  groups("4:memory:/docker/ab\n5:pids:/docker/abcdef\n");
  const auto places = found();
  ASSERT_EQ(places.v1.size(), 2U);
  EXPECT_EQ(places.v1[0].parent, "/sys/fs/cgroup/memory");
  EXPECT_EQ(places.v1[1].parent, "/sys/fs/cgroup/pids") << "a sibling's name only begins alike";
}

TEST_F(CgroupPlacesOf, v2_begin_with_the_parent_of_our_own_group) {
  mounts("30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n");
  groups("0::/user.slice/app.slice/shell.scope\n");
  group("/sys/fs/cgroup", "cpuset cpu io memory pids", "cpu io memory pids");
  group("/sys/fs/cgroup/user.slice/app.slice", "cpu io memory pids", "memory pids");
  group("/sys/fs/cgroup/user.slice/app.slice/shell.scope", "memory pids", "");
  const auto places = found();
  EXPECT_TRUE(places.v1.empty());
  ASSERT_EQ(places.v2.size(), 3U);
  EXPECT_EQ(places.v2[0].parent, "/sys/fs/cgroup/user.slice/app.slice");
  EXPECT_EQ(places.v2[0].enabled, (Names{"memory", "pids"}));
  EXPECT_EQ(places.v2[0].can_enable, (Names{"cpu", "io"}));
}

TEST_F(CgroupPlacesOf, v2_prefer_one_that_has_every_controller) {
  mounts("30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  groups("0::/user.slice/session-3.scope\n");
  group("/sys/fs/cgroup", "cpu io memory pids", "cpu io memory pids");
  group("/sys/fs/cgroup/user.slice", "memory pids", "memory pids");
  group("/sys/fs/cgroup/user.slice/session-3.scope", "memory pids", "");
  const auto places = found();
  ASSERT_EQ(places.v2.size(), 3U);
  EXPECT_EQ(places.v2[0].parent, "/sys/fs/cgroup");
  EXPECT_EQ(places.v2[1].parent, "/sys/fs/cgroup/user.slice");
}

TEST_F(CgroupPlacesOf, a_v2_container_know_one_group_only) {
  mounts("30 24 0:26 /../../x /sys/fs/cgroup\\040two rw - cgroup2 cgroup2 rw\n");
  groups("0::/\n");
  group("/sys/fs/cgroup two", "cpu memory", "");
  const auto places = found();
  ASSERT_EQ(places.v2.size(), 1U);
  EXPECT_EQ(places.v2[0].parent, "/sys/fs/cgroup two");
  EXPECT_EQ(places.v2[0].can_enable, (Names{"cpu", "memory"}));
}

TEST_F(CgroupPlacesOf, a_machine_without_control_groups_are_none) {
  mounts("30 24 0:26 / /sys rw - sysfs sysfs rw\nnonsense\n\n");
  EXPECT_TRUE(found().empty());
}

TEST_F(CgroupPlacesOf, past_sessions_reach_from_our_group_to_the_top) {
  mounts(
      "33 30 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "31 30 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  groups("4:memory:/a/b\n0::/\n");
  tree.write("sys/fs/cgroup/memory/a/b/cgroup.procs", "");
  EXPECT_EQ(cgroup_parents(SysRoot(tree.path())),
            (Names{"/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/memory/a", "/sys/fs/cgroup/memory",
                   "/sys/fs/cgroup/unified"}));
}

}  // namespace
}  // namespace assay::launch
