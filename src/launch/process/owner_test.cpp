// SPDX-License-Identifier: Apache-2.0
#include "process/owner.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

TEST(Owner, that_is_a_zombie_is_dead) {
  Owner owner = Owner::self(SysRoot());
  owner.pid = ::fork();
  if (owner.pid == 0) ::_exit(0);
  siginfo_t info = {};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(owner.pid), &info, WEXITED | WNOWAIT), 0);
  owner.start_ticks = read_stat(SysRoot(), owner.pid)->start_ticks;
  EXPECT_EQ(state_of(SysRoot(), owner), ProcessState::dead);
  ::waitpid(owner.pid, nullptr, 0);
}

TEST(GroupName, carries_its_owner) {
  const Owner owner{12, 3456, 789, "ab-cd"};
  const std::string name = group_name("20260131-120000-7f3a", 2, owner);
  EXPECT_EQ(name, "assay-20260131-120000-7f3a-2.12.3456.789.ab-cd");
  EXPECT_EQ(group_owner(name), owner);
}

TEST(GroupName, of_an_earlier_version_is_read_too) {
  EXPECT_EQ(group_owner("assay-20260131-120000-7f3a-2.12.3456.789"), (Owner{12, 3456, 789, ""}));
}

TEST(GroupName, holds_nothing_that_a_folder_cannot) {
  const std::string name = group_name("../a b.c", 1, Owner{1, 2, 3, ""});
  EXPECT_EQ(name, "assay-___a_b_c-1.1.2.3");
  EXPECT_EQ(group_owner(name), (Owner{1, 2, 3, ""}));
}

TEST(GroupName, of_others_has_no_owner) {
  for (const char* name : {"assay-agent.service", "user.slice", "assay-", "docker-1.2.3"}) {
    EXPECT_FALSE(group_owner(name)) << name;
  }
}

}  // namespace
}  // namespace assay::launch
