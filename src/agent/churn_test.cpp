// SPDX-License-Identifier: Apache-2.0
// Apps that come and go leave nothing behind.
#include "group_watch.h"
#include "live_table.h"
#include "testing/machine.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

size_t open_descriptors() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(open), end(open)));
}

class Churn : public ::testing::Test {
 protected:
  static std::string path_of(int number) { return fmt::format("/docker/{:064x}", number); }

  void make(int number) {
    machine_.make_group(path_of(number), 1, 1000);
    watch_.poll();
  }
  void remove(int number) {
    machine_.remove_group(path_of(number));
    watch_.poll();
  }
  static GroupWatch start(const testing::Machine& machine, LiveTable& table) {
    machine.write("/cg/docker/cgroup.procs", "");
    return GroupWatch::start(machine.groups(), true, table).value();
  }

  testing::Machine machine_;
  ManualClock clock_{from_unix_ns(1'700'000'000'000'000'000)};
  LiveTable table_{machine_.root(), clock_, {}};
  GroupWatch watch_ = start(machine_, table_);
};

TEST_F(Churn, three_hundred_groups_that_come_and_go_leave_descriptors_and_apps_as_before) {
  const size_t descriptors = open_descriptors();
  const size_t groups = watch_.groups();
  constexpr int kGroups = 300;
  constexpr int kAtATime = 20;
  size_t most_apps = 0;
  size_t most_descriptors = 0;
  for (int i = 0; i < kGroups + kAtATime; ++i) {
    if (i < kGroups) make(i);
    if (i >= kAtATime) remove(i - kAtATime);
    clock_.advance(std::chrono::seconds(2));
    table_.beat();
    most_apps = std::max(most_apps, table_.apps().size());
    most_descriptors = std::max(most_descriptors, open_descriptors());
  }
  EXPECT_GT(most_apps, static_cast<size_t>(kAtATime)) << "those that ended are shown for a while";
  EXPECT_LE(most_apps, static_cast<size_t>(kAtATime) + 31);
  EXPECT_GE(most_descriptors, descriptors + kAtATime) << "files of those that run are kept open";
  clock_.advance(std::chrono::seconds(60));
  table_.beat();
  EXPECT_TRUE(table_.apps().empty());
  EXPECT_EQ(watch_.groups(), groups);
  EXPECT_EQ(open_descriptors(), descriptors);
}

}  // namespace
}  // namespace assay::agent
