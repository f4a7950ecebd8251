// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

#include <assay/base/process_id.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

/// A machine on which process 42 runs, seen from within pid namespace 7.
class ProcessIdTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "assay-base-XXXXXX").native();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    root_ = SysRoot(folder_);
    std::filesystem::create_directories(folder_ / "proc/42");
    std::filesystem::create_directories(folder_ / "proc/self/ns");
    std::filesystem::create_directories(folder_ / "proc/sys/kernel/random");
    std::filesystem::create_symlink("pid:[7]", folder_ / "proc/self/ns/pid");
    boot("11-22");
    process('S', 777);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void boot(const char* id) {
    std::ofstream(folder_ / "proc/sys/kernel/random/boot_id") << id << "\n";
  }
  void process(char state, int start) {
    std::ofstream(folder_ / "proc/42/stat")
        << "42 (a) b (c) " << state << " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 " << start
        << " 20 21\n";
  }
  ProcessState state() const { return state_of(root_, id_); }

  std::filesystem::path folder_;
  SysRoot root_;
  ProcessId id_{42, 777, 7, "11-22"};
};

TEST_F(ProcessIdTest, is_alive_when_all_agrees) {
  EXPECT_EQ(state(), ProcessState::alive);
}

TEST_F(ProcessIdTest, is_dead_when_its_pid_belongs_to_a_later_process) {
  process('S', 778);
  EXPECT_EQ(state(), ProcessState::dead);
}

TEST_F(ProcessIdTest, is_dead_as_a_zombie_and_when_it_was_reaped) {
  process('Z', 777);
  EXPECT_EQ(state(), ProcessState::dead);
  std::filesystem::remove_all(folder_ / "proc/42");
  EXPECT_EQ(state(), ProcessState::dead);
}

TEST_F(ProcessIdTest, is_not_judged_from_another_pid_namespace) {
  id_.pid_namespace = 8;
  EXPECT_EQ(state(), ProcessState::unknown);
  id_.pid = 1 << 22;  // nobody here, but perhaps there
  EXPECT_EQ(state(), ProcessState::unknown);
}

TEST_F(ProcessIdTest, is_dead_after_a_new_start_of_the_machine_in_any_namespace) {
  boot("33-44");
  EXPECT_EQ(state(), ProcessState::dead);
  id_.pid_namespace = 8;
  EXPECT_EQ(state(), ProcessState::dead);
}

TEST_F(ProcessIdTest, is_judged_by_what_is_known) {
  id_ = {42, 0, 0, ""};
  EXPECT_EQ(state(), ProcessState::alive);
  id_ = {};
  EXPECT_EQ(state(), ProcessState::dead);
}

TEST(ProcessId, of_this_process_is_alive_and_complete) {
  const ProcessId self = ProcessId::self(SysRoot());
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_NE(self.start_ticks, 0U);
  EXPECT_NE(self.pid_namespace, 0U);
  EXPECT_EQ(self.boot.size(), 36U);
  EXPECT_EQ(state_of(SysRoot(), self), ProcessState::alive);
}

TEST(ProcessId, reads_back_its_text_and_that_without_a_boot) {
  const ProcessId whole{12, 3456, 4026531836, "ab-cd"};
  EXPECT_EQ(whole.text(), "12.3456.4026531836.ab-cd");
  EXPECT_EQ(ProcessId::parse(whole.text()), whole);
  const ProcessId old{12, 3456, 4026531836, ""};
  EXPECT_EQ(old.text(), "12.3456.4026531836");
  EXPECT_EQ(ProcessId::parse(old.text()), old);
}

TEST(ProcessId, refuses_what_it_did_not_write) {
  for (const char* text :
       {"", "12", "12.3", "a.b.c", "-1.2.3", "0.1.2", "12.3.4.5.6", "99999999999.1.2"}) {
    EXPECT_FALSE(ProcessId::parse(text)) << text;
  }
}

}  // namespace
}  // namespace assay
