// SPDX-License-Identifier: Apache-2.0
#include "writer.h"

#include "test_support.h"

#include <fstream>

#include <gtest/gtest.h>

namespace assay::store {
namespace {

class WriterTest : public testing::Test {
 protected:
  TempFolder folder_;
  SysRoot root_{folder_.path()};

  void SetUp() override {
    std::filesystem::create_directories(folder_ / "proc/42");
    std::filesystem::create_directories(folder_ / "proc/sys/kernel/random");
    boot("11-22");
    process('S', 777);
  }
  void boot(const char* id) {
    std::ofstream(folder_ / "proc/sys/kernel/random/boot_id") << id << "\n";
  }
  void process(char state, int start) {
    std::ofstream(folder_ / "proc/42/stat")
        << "42 (a) b (c) " << state << " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 " << start
        << " 20 21\n";
  }
};

TEST_F(WriterTest, is_told_by_pid_start_and_boot) {
  const Writer writer = describe_process(root_, 42);
  EXPECT_EQ(writer.pid, 42);
  EXPECT_EQ(writer.start_ticks, 777);
  EXPECT_EQ(writer.boot, "11-22");
  EXPECT_TRUE(is_alive(root_, writer));
}

TEST_F(WriterTest, is_gone_when_its_pid_belongs_to_a_later_process) {
  const Writer writer = describe_process(root_, 42);
  process('S', 778);
  EXPECT_FALSE(is_alive(root_, writer));
}

TEST_F(WriterTest, is_gone_when_the_machine_was_started_anew) {
  const Writer writer = describe_process(root_, 42);
  boot("33-44");
  EXPECT_FALSE(is_alive(root_, writer));
}

TEST_F(WriterTest, is_gone_as_a_zombie_and_when_it_was_reaped) {
  const Writer writer = describe_process(root_, 42);
  process('Z', 777);
  EXPECT_FALSE(is_alive(root_, writer));
  std::filesystem::remove_all(folder_ / "proc/42");
  EXPECT_FALSE(is_alive(root_, writer));
}

TEST(Writer, that_was_never_recorded_is_gone) {
  EXPECT_FALSE(is_alive(SysRoot(), {}));
}

}  // namespace
}  // namespace assay::store
