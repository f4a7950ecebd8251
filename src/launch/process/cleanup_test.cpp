// SPDX-License-Identifier: Apache-2.0
#include "process/cleanup.h"

#include "process/testing.h"

#include <csignal>
#include <filesystem>

#include <assay/base/text.h>
#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using testing::TempFolder;

TEST(Mark, is_read_from_an_environment) {
  using namespace std::string_view_literals;
  const auto mark = parse_mark("A=1\0ASSAY_OWNER=5.6.7\0ASSAY_RUN=s-1/2\0"sv);
  ASSERT_TRUE(mark);
  EXPECT_EQ(mark->run, "s-1/2");
  EXPECT_EQ(mark->owner, (Owner{5, 6, 7, ""}));
  EXPECT_FALSE(parse_mark("A=1\0ASSAY_RUN=s-1/2\0"sv));
  EXPECT_FALSE(parse_mark("ASSAY_OWNER=junk\0ASSAY_RUN=s-1/2\0"sv));
  EXPECT_FALSE(parse_mark(""sv));
}

/// Tells its keeper, and has two children in sessions of their own: one with our marks,
/// one with an empty environment.
constexpr const char* kScript =
    "echo $PPID > keeper; mkfifo one two; "
    "(setsid sh -c 'echo $$ > one; exec sleep 600' &); read marked < one; "
    "(setsid env -i sh -c 'echo $$ > two; exec sleep 600' &); read bare < two; "
    "echo $marked $bare > ready; exec sleep 600";

struct Session {
  Session() {
    std::string line;
    owner = testing::spawn_owner(folder, kScript, line);
    std::string_view rest = line;
    marked = testing::to_pid(std::string(next_field(rest, ' ')));
    bare = testing::to_pid(std::string(rest));
    keeper = testing::to_pid(folder.read("keeper"));
    groups = testing::own_group_folders(bare);
    EXPECT_TRUE(runs()) << line;
    EXPECT_FALSE(groups.empty());
  }
  bool runs() const {
    return testing::is_running(marked) && testing::is_running(bare) && testing::is_running(keeper);
  }

  TempFolder folder;
  pid_t owner = 0;
  pid_t keeper = 0;
  pid_t marked = 0;
  pid_t bare = 0;
  std::vector<std::string> groups;
};

TEST(CleanUp, ends_what_the_dead_left_and_nothing_of_the_living) {
  if (!testing::can_make_groups()) GTEST_SKIP() << "no control group can be made here";
  const Session dead;
  const Session alive;
  // The worst that can happen: keeper first, so that nobody ends the children.
  ::kill(dead.keeper, SIGKILL);
  ASSERT_TRUE(testing::wait_gone(dead.keeper));
  testing::kill_owner(dead.owner);

  clean_up_leftovers({"test-" + dead.folder.path().filename().native()});
  EXPECT_TRUE(testing::wait_gone(dead.marked));
  EXPECT_TRUE(testing::wait_gone(dead.bare));
  for (const auto& group : dead.groups) EXPECT_FALSE(std::filesystem::exists(group)) << group;

  EXPECT_TRUE(alive.runs());
  for (const auto& group : alive.groups) EXPECT_TRUE(std::filesystem::exists(group)) << group;

  testing::kill_owner(alive.owner);
  EXPECT_TRUE(testing::wait_gone(alive.bare));
  EXPECT_TRUE(testing::wait_gone(alive.keeper));
}

TEST(CleanUp, never_acts_on_a_captured_machine) {
  const TempFolder tree;
  EXPECT_TRUE(clean_up_leftovers({"x"}, SysRoot(tree.path())).empty());
}

}  // namespace
}  // namespace assay::launch
