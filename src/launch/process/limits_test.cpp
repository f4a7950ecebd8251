// SPDX-License-Identifier: Apache-2.0
#include "process/testing.h"

#include <csignal>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using testing::shell;
using testing::TempFolder;

constexpr uint64_t kMebi = 1U << 20U;

class Limited : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::can_make_groups()) GTEST_SKIP() << "no control group can be made here";
  }

  std::unique_ptr<RunningApp> start(const std::string& script, const Limits& limits) {
    Request request = shell(folder, script);
    request.target.limits = limits;
    return testing::start(request);
  }

  static std::string value(const std::string& group, const std::string& file) {
    return SysRoot().read(group + "/" + file).value_or("");
  }

  TempFolder folder;
};

TEST_F(Limited, memory_ends_an_app_that_wants_more_and_says_so) {
  Limits limits;
  limits.memory_bytes = 32 * kMebi;
  const auto app = start("exec tail -n 1 < /dev/zero", limits);
  ASSERT_TRUE(app);
  const Exit exit = testing::wait_exit(*app);
  EXPECT_TRUE(exit.oom_killed);
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_EQ(exit.detail, "killed by the kernel: out of memory (limit 32 MiB)");
}

TEST_F(Limited, memory_that_ends_only_a_child_is_told_too) {
  Limits limits;
  limits.memory_bytes = 32 * kMebi;
  const auto app = start("tail -n 1 < /dev/zero; exit $?", limits);
  ASSERT_TRUE(app);
  const Exit exit = testing::wait_exit(*app);
  EXPECT_TRUE(exit.oom_killed);
  EXPECT_EQ(exit.code, 128 + SIGKILL);
}

TEST_F(Limited, memory_that_ends_a_child_is_told_even_when_its_parent_shrugs_it_off) {
  Limits limits;
  limits.memory_bytes = 32 * kMebi;
  const auto app = start("tail -n 1 < /dev/zero; exit 0", limits);
  ASSERT_TRUE(app);
  const Exit exit = testing::wait_exit(*app);
  EXPECT_TRUE(exit.oom_killed);
  EXPECT_EQ(exit.detail,
            "exited with code 0 after the kernel killed a process of it: out of memory (limit 32 "
            "MiB)");
}

TEST_F(Limited, memory_that_suffices_changes_nothing) {
  Limits limits;
  limits.memory_bytes = 64 * kMebi;
  const auto app = start("exit 1", limits);
  ASSERT_TRUE(app);
  EXPECT_FALSE(testing::wait_exit(*app).oom_killed);
}

TEST_F(Limited, a_kill_without_a_lack_of_memory_is_not_called_one) {
  Limits limits;
  limits.memory_bytes = 64 * kMebi;
  const auto app = start("kill -KILL $$", limits);
  ASSERT_TRUE(app);
  const Exit exit = testing::wait_exit(*app);
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_FALSE(exit.oom_killed);
}

TEST_F(Limited, cpus_are_set_on_the_group_that_the_app_is_in) {
  Limits limits;
  limits.cpus = 0.5;
  const auto app = start("exec sleep 600", limits);
  ASSERT_TRUE(app);
  const auto& group = app->target().cgroup;
  if (group.unified) {
    EXPECT_EQ(value(group.v2, "cpu.max"), "50000 100000");
  } else {
    EXPECT_EQ(value(group.cpu, "cpu.cfs_quota_us"), "50000");
    EXPECT_EQ(value(group.cpu, "cpu.cfs_period_us"), "100000");
  }
  const std::string members = value(group.unified ? group.v2 : group.cpu, "cgroup.procs");
  const auto tree = probes::descendants(SysRoot(), app->target().root);
  ASSERT_EQ(tree.size(), 1U);
  EXPECT_EQ(members, std::to_string(tree.front()));
}

TEST_F(Limited, pids_stop_an_app_from_forking_on) {
  Limits limits;
  limits.pids = 3;
  const auto app =
      start("sleep 600 & sleep 600 & sleep 600 & sleep 600 & echo all of them", limits);
  ASSERT_TRUE(app);
  EXPECT_NE(testing::wait_exit(*app).code, 0);
  EXPECT_EQ(folder.read("out"), "");
  const auto& group = app->target().cgroup;
  EXPECT_EQ(value(group.unified ? group.v2 : group.pids, "pids.max"), "3");
  EXPECT_EQ(app->release().forks_refused, 1U);
}

TEST_F(Limited, the_group_can_be_read_until_release) {
  const auto app = start("exit 0", {});
  ASSERT_TRUE(app);
  testing::wait_exit(*app);
  const auto& group = app->target().cgroup;
  const std::string folder_of_cpu = group.unified ? group.v2 : group.cpuacct;
  EXPECT_NE(value(folder_of_cpu, group.unified ? "cpu.stat" : "cpuacct.usage"), "");
  app->release();
  EXPECT_FALSE(SysRoot().exists(folder_of_cpu));
}

TEST(Unlimited, an_app_without_control_groups_runs_as_a_process_tree_with_a_note) {
  const TempFolder folder;
  const TempFolder bare;
  const auto app = testing::launched(shell(folder, "exit 0"), SysRoot(bare.path()));
  ASSERT_TRUE(app);
  EXPECT_EQ((*app)->isolation(), "process tree");
  EXPECT_TRUE((*app)->target().cgroup.empty());
  ASSERT_EQ((*app)->notes().size(), 1U);
  EXPECT_EQ((*app)->notes()[0].what, "own control group");
  EXPECT_EQ(testing::wait_exit(**app).code, 0);
}

TEST(Unlimited, limits_that_cannot_be_applied_stop_the_start) {
  const TempFolder folder;
  const TempFolder bare;
  Request request = shell(folder, "echo ran");
  request.target.limits.cpus = 1.5;
  const auto app = testing::launched(request, SysRoot(bare.path()));
  ASSERT_FALSE(app);
  EXPECT_EQ(app.error().kind, ErrorKind::environment);
  EXPECT_EQ(
      app.error().message.find(
          "cannot run under the limits asked for (cpus 1.5): no control groups are mounted here; "
          "run as root"),
      0U)
      << app.error().message;
  EXPECT_EQ(folder.read("out"), "");
}

TEST(TryLimits, tells_before_a_run_whether_limits_can_be_had) {
  Limits limits;
  EXPECT_TRUE(try_limits(limits, SysRoot("/no/such/root")));
  limits.cpus = 1;
  const auto can = try_limits(limits, SysRoot("/no/such/root"));
  ASSERT_FALSE(can);
  EXPECT_EQ(can.error().kind, ErrorKind::environment);
  EXPECT_NE(can.error().message.find("cannot run under the limits asked for (cpus 1)"),
            std::string::npos);
}

TEST_F(Limited, can_be_tried_without_an_app) {
  Limits limits;
  limits.cpus = 1;
  EXPECT_TRUE(try_limits(limits));
}

}  // namespace
}  // namespace assay::launch
