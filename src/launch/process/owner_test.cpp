// SPDX-License-Identifier: Apache-2.0
#include "process/owner.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

Owner self() {
  const auto owner = Owner::self(SysRoot());
  EXPECT_TRUE(owner);
  return owner.value_or(Owner{});
}

TEST(Owner, reads_back_its_own_text) {
  const Owner owner{12, 3456, 4026531836};
  EXPECT_EQ(owner.text(), "12.3456.4026531836");
  EXPECT_EQ(Owner::parse(owner.text()), owner);
}

TEST(Owner, refuses_what_it_did_not_write) {
  for (const char* text :
       {"", "12", "12.3", "a.b.c", "-1.2.3", "0.1.2", "12.3.4.5", "99999999999.1.2"}) {
    EXPECT_FALSE(Owner::parse(text)) << text;
  }
}

TEST(Owner, of_this_process_is_alive) {
  EXPECT_EQ(state_of(SysRoot(), self()), OwnerState::alive);
}

TEST(Owner, with_a_reused_pid_is_dead) {
  Owner owner = self();
  owner.start_ticks += 1;
  EXPECT_EQ(state_of(SysRoot(), owner), OwnerState::dead);
}

TEST(Owner, in_another_pid_namespace_is_not_judged) {
  Owner owner = self();
  owner.pid = 1 << 22;  // nobody here, but perhaps there
  owner.pid_namespace += 1;
  EXPECT_EQ(state_of(SysRoot(), owner), OwnerState::unknown);
}

TEST(Owner, that_is_a_zombie_is_dead) {
  Owner owner = self();
  owner.pid = ::fork();
  if (owner.pid == 0) ::_exit(0);
  siginfo_t info = {};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(owner.pid), &info, WEXITED | WNOWAIT), 0);
  owner.start_ticks = read_stat(SysRoot(), owner.pid)->start_ticks;
  EXPECT_EQ(state_of(SysRoot(), owner), OwnerState::dead);
  ::waitpid(owner.pid, nullptr, 0);
}

TEST(GroupName, carries_its_owner) {
  const Owner owner{12, 3456, 789};
  const std::string name = group_name("20260131-120000-7f3a", 2, owner);
  EXPECT_EQ(name, "assay-20260131-120000-7f3a-2.12.3456.789");
  EXPECT_EQ(group_owner(name), owner);
}

TEST(GroupName, holds_nothing_that_a_folder_cannot) {
  const std::string name = group_name("../a b.c", 1, Owner{1, 2, 3});
  EXPECT_EQ(name, "assay-___a_b_c-1.1.2.3");
  EXPECT_EQ(group_owner(name), (Owner{1, 2, 3}));
}

TEST(GroupName, of_others_has_no_owner) {
  for (const char* name : {"assay-agent.service", "user.slice", "assay-", "docker-1.2.3"}) {
    EXPECT_FALSE(group_owner(name)) << name;
  }
}

}  // namespace
}  // namespace assay::launch
