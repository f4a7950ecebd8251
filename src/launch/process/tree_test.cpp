// SPDX-License-Identifier: Apache-2.0
#include "process/tree.h"

#include "process/app_child.h"
#include "process/testing.h"

#include <csignal>
#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

TEST(Tree, finds_the_processes_of_a_group_and_of_those_below) {
  const testing::TempFolder folder;
  folder.write("cgroup.procs", "12\n34\n");
  folder.write("inner/deep/cgroup.procs", "56\n");
  EXPECT_EQ(processes_in_group(folder.path()), (std::vector<pid_t>{12, 34, 56}));
}

TEST(Tree, never_names_init_or_a_process_that_cannot_be_seen) {
  const testing::TempFolder folder;
  folder.write("cgroup.procs", "0\n1\n77\njunk\n");
  EXPECT_EQ(processes_in_group(folder.path()), (std::vector<pid_t>{77}));
}

TEST(Tree, a_group_is_its_own_only_when_all_in_it_are_known_to_be) {
  const testing::TempFolder folder;
  const std::vector<pid_t> tree = {1, 12, 34};
  const auto own = [&](const char* members, const char* below) {
    folder.write("cgroup.procs", members);
    folder.write("inner/cgroup.procs", below);
    return holds_only(folder.path(), tree);
  };
  EXPECT_TRUE(own("12\n34\n", ""));
  EXPECT_TRUE(own("1\n", "12\n"));
  EXPECT_FALSE(own("", "")) << "nobody";
  EXPECT_FALSE(own("12\n56\n", "")) << "a stranger";
  EXPECT_FALSE(own("12\n0\n", "")) << "of a pid namespace that cannot be seen";
  EXPECT_FALSE(own("12\n", "0\n")) << "below it";
}

TEST(Tree, leaves_the_ancestor_itself_out) {
  const testing::TempFolder folder;
  folder.write("cgroup.procs", std::to_string(::getpid()) + "\n");
  const std::vector<std::string> folders = {folder.path()};
  EXPECT_TRUE(processes_of_tree(folders, ::getpid()).empty());
}

TEST(Tree, removes_groups_from_the_inside_out) {
  const testing::TempFolder folder;
  const std::string group = folder.path() / "group";
  std::filesystem::create_directories(group + "/a/b");
  EXPECT_TRUE(remove_group(group));
  EXPECT_FALSE(std::filesystem::exists(group));
  EXPECT_TRUE(remove_group(group)) << "what is not there needs no removing";
}

/// On the real v2 hierarchy, which needs no controllers for this.
TEST(Tree, an_app_is_born_in_its_v2_group_and_dies_with_it) {
  std::string top;
  for (const char* place : {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"}) {
    if (top.empty() && std::filesystem::exists(std::string(place) + "/cgroup.subtree_control"))
      top = place;
  }
  const std::string group = top + "/assay-tree-test-" + std::to_string(::getpid());
  if (top.empty() || ::mkdir(group.c_str(), 0755) != 0)
    GTEST_SKIP() << "no v2 group can be made here";

  StartOrder order;
  order.argv = {"/bin/sh", "-c", "sleep 600 & sleep 600"};
  order.unified = true;
  order.cgroups = {group};
  const Spawned app = spawn_app(order);
  ASSERT_NE(app.pid, 0) << app.error;
  const auto inside = processes_in_group(group);
  EXPECT_NE(std::find(inside.begin(), inside.end(), app.pid), inside.end());
  freeze_or_kill_groups(order.cgroups);
  siginfo_t info = {};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(app.pid), &info, WEXITED), 0);
  EXPECT_EQ(info.si_status, SIGKILL);
  EXPECT_TRUE(remove_group(group));
}

}  // namespace
}  // namespace assay::launch
