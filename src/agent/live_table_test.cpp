// SPDX-License-Identifier: Apache-2.0
#include "live_table.h"

#include "testing/machine.h"

#include <unistd.h>

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

using probes::Use;
using std::chrono::seconds;

const std::string kPath = "/docker/" + std::string(64, 'a');

/// A table that is told by hand what its watch would tell it.
class TableTest : public ::testing::Test {
 protected:
  testing::Machine machine;
  ManualClock clock{from_unix_ns(1'700'000'000'000'000'000)};
  LiveTable table{machine.root(), clock, {}};

  LiveApp& app() { return *table.find(kPath); }
  void appear(double cpu_seconds, double memory) {
    machine.make_group(kPath, cpu_seconds, memory);
    table.group_appeared(kPath);
  }
};

TEST_F(TableTest, an_app_that_is_older_than_the_daemon_keeps_its_age) {
  machine.write("/proc/uptime", "5000.00 9000.00\n");
  machine.write("/proc/41/stat",
                "41 (detect) S 1 41 41 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 1 0 470000 1 1\n");
  machine.write("/cg" + kPath + "/cgroup.procs", "41\n");
  appear(5, 1000);
  machine.write("/cg" + kPath + "/cgroup.procs", "41\n");
  table.members_changed(kPath);
  const Nanoseconds age = clock.now() - app().started();
  EXPECT_NEAR(static_cast<double>(age.count()), 300e9, 1e3);
  EXPECT_EQ(app().appeared(), clock.now());
}

TEST_F(TableTest, an_app_has_its_counters_and_rates) {
  appear(10, 5000);
  clock.advance(seconds(20));
  table.beat();
  machine.use(kPath, 13, 6000);
  clock.advance(seconds(2));
  table.beat();
  EXPECT_DOUBLE_EQ(app().use()[Use::cpu_seconds], 13);
  EXPECT_DOUBLE_EQ(app().use()[Use::memory_working_set], 5900);
  EXPECT_DOUBLE_EQ(app().use()[Use::memory_peak], 10000) << "read every ten seconds";
  EXPECT_EQ(app().window(Live::cores).latest(), 1.5);
  EXPECT_EQ(app().window(Live::memory).latest(), 5900);
  EXPECT_EQ(app().identity().name, std::string(12, 'a'));
}

TEST_F(TableTest, groups_that_are_no_apps_are_looked_into) {
  EXPECT_TRUE(table.group_appeared("/docker"));
  EXPECT_TRUE(table.apps().empty());
  machine.make_group(kPath, 0, 0);
  EXPECT_FALSE(table.group_appeared(kPath));
}

TEST_F(TableTest, its_first_process_is_told_once) {
  std::vector<pid_t> told;
  table.on_process([&](const std::string&, pid_t pid) { told.push_back(pid); });
  appear(0, 1000);
  EXPECT_TRUE(told.empty());
  machine.write("/cg" + kPath + "/cgroup.procs", "41\n42\n");
  table.members_changed(kPath);
  table.members_changed(kPath);
  EXPECT_EQ(told, std::vector<pid_t>{41});
}

TEST_F(TableTest, what_ends_is_read_once_more_and_kept_for_a_while) {
  appear(1, 5000);
  table.beat();
  machine.use(kPath, 7.5, 9000);
  table.process_ended(kPath);
  machine.remove_group(kPath);
  table.group_gone(kPath);
  EXPECT_DOUBLE_EQ(app().use()[Use::cpu_seconds], 7.5);
  EXPECT_DOUBLE_EQ(app().use()[Use::memory_peak], 18000);
  EXPECT_FALSE(app().is_lower_bound());
  clock.advance(seconds(59));
  table.beat();
  EXPECT_NE(table.find(kPath), nullptr);
  clock.advance(seconds(1));
  table.beat();
  EXPECT_EQ(table.find(kPath), nullptr);
}

TEST_F(TableTest, what_is_gone_before_it_was_read_is_a_lower_bound) {
  appear(1, 5000);
  table.beat();
  machine.remove_group(kPath);
  table.group_gone(kPath);
  EXPECT_TRUE(app().is_lower_bound());
}

TEST_F(TableTest, in_v2_the_last_member_that_leaves_is_the_end) {
  appear(1, 5000);
  machine.write("/cg" + kPath + "/cgroup.procs", "41\n");
  table.members_changed(kPath);
  machine.use(kPath, 3, 5000);
  machine.write("/cg" + kPath + "/cgroup.procs", "");
  table.members_changed(kPath);
  table.group_gone(kPath);
  EXPECT_DOUBLE_EQ(app().use()[Use::cpu_seconds], 3);
  EXPECT_FALSE(app().is_lower_bound());
}

TEST_F(TableTest, when_a_helper_of_the_runtime_ends_the_app_goes_on) {
  std::vector<pid_t> told;
  table.on_process([&](const std::string&, pid_t pid) { told.push_back(pid); });
  appear(1, 5000);
  machine.write("/cg" + kPath + "/cgroup.procs", "41\n");
  table.members_changed(kPath);
  machine.write("/cg" + kPath + "/cgroup.procs", "42\n");
  table.process_ended(kPath);
  EXPECT_EQ(told, (std::vector<pid_t>{41, 42}));
  table.group_gone(kPath);
  EXPECT_TRUE(app().is_lower_bound()) << "42 was not seen to end";
}

TEST_F(TableTest, a_process_that_has_ended_and_is_still_listed_is_not_awaited_again) {
  std::vector<pid_t> told;
  table.on_process([&](const std::string& path, pid_t pid) {
    told.push_back(pid);
    if (told.size() < 5) table.process_ended(path);
  });
  appear(1, 5000);
  machine.write("/cg" + kPath + "/cgroup.procs", "41\n");
  table.members_changed(kPath);
  EXPECT_EQ(told, std::vector<pid_t>{41});
}

TEST_F(TableTest, a_group_that_came_back_is_a_new_app) {
  appear(5, 1000);
  table.beat();
  machine.remove_group(kPath);
  table.group_gone(kPath);
  appear(1, 1000);
  table.beat();
  EXPECT_FALSE(app().ended());
  EXPECT_DOUBLE_EQ(app().use()[Use::cpu_seconds], 1);
}

TEST_F(TableTest, more_apps_than_allowed_are_counted) {
  LiveTable small(machine.root(), clock, {.apps = 1});
  machine.make_group("/system.slice/a.service", 0, 0);
  machine.make_group("/system.slice/b.service", 0, 0);
  small.group_appeared("/system.slice/a.service");
  small.group_appeared("/system.slice/b.service");
  EXPECT_EQ(small.apps().size(), 1U);
  EXPECT_EQ(small.not_watched(), 1U);
}

}  // namespace
}  // namespace assay::agent
