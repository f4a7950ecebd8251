// SPDX-License-Identifier: Apache-2.0
#include "group/group_text.h"
#include "test_support.h"

#include <cmath>
#include <filesystem>
#include <string>

#include <assay/probes/group.h>
#include <gtest/gtest.h>

namespace assay::probes {
namespace {
namespace fs = std::filesystem;

GroupReader reader_of(const SysRoot& root, pid_t pid) {
  return {root, cgroups_of(root, pid)};
}

TEST(GroupReader, of_a_container_in_v2) {
  auto reader = reader_of(sysroot("docker-cgroup-v2"), 468);
  GroupUse use;
  ASSERT_TRUE(reader.read(use));
  reader.read_slow(use);
  EXPECT_DOUBLE_EQ(use[Use::cpu_seconds], 58.725674);
  EXPECT_DOUBLE_EQ(use[Use::cpu_user_seconds], 33.370873);
  EXPECT_DOUBLE_EQ(use[Use::cpu_periods], 1196);
  EXPECT_DOUBLE_EQ(use[Use::cpu_throttled_periods], 1005);
  EXPECT_DOUBLE_EQ(use[Use::cpu_throttled_seconds], 55.118539);
  EXPECT_DOUBLE_EQ(use[Use::memory], 67563520);
  EXPECT_DOUBLE_EQ(use[Use::memory_working_set], 67563520.0 - 4096);
  EXPECT_DOUBLE_EQ(use[Use::memory_peak], 67801088);
  EXPECT_DOUBLE_EQ(use[Use::page_faults], 1328);
  EXPECT_DOUBLE_EQ(use[Use::oom_kills], 0);
  EXPECT_DOUBLE_EQ(use[Use::threads], 1);
  EXPECT_DOUBLE_EQ(use[Use::processes], 1);
  EXPECT_DOUBLE_EQ(use[Use::cpu_waiting_seconds], 50.605037);
  ASSERT_EQ(use.disks.size(), 1U);
  EXPECT_EQ(use.disks[0].major, 254U);
  EXPECT_DOUBLE_EQ(use.disks[0].read_bytes, 4096);
  EXPECT_DOUBLE_EQ(use.disks[0].reads, 1);
}

TEST(GroupReader, tells_the_limits_of_v2) {
  const GroupLimits limits = reader_of(sysroot("docker-cgroup-v2"), 468).limits();
  EXPECT_EQ(limits.cores(), 0.5);
  EXPECT_EQ(limits.memory, 268435456);
  EXPECT_EQ(limits.threads, 4683);
  EXPECT_FALSE(limits.swap);
}

TEST(GroupReader, of_a_group_in_v1) {
  auto reader = reader_of(sysroot("vm-cgroup-v1"), 4242);
  GroupUse use;
  ASSERT_TRUE(reader.read(use));
  reader.read_slow(use);
  const auto usage = sysroot("vm-cgroup-v1").read("/sys/fs/cgroup/cpuacct/app/cpuacct.usage");
  EXPECT_DOUBLE_EQ(use[Use::cpu_seconds], std::stod(*usage) * 1e-9);
  const auto memory =
      sysroot("vm-cgroup-v1").read("/sys/fs/cgroup/memory/app/memory.usage_in_bytes");
  EXPECT_DOUBLE_EQ(use[Use::memory], std::stod(*memory));
  EXPECT_LE(use[Use::memory_working_set], use[Use::memory]);
  EXPECT_GT(use[Use::memory_peak], 0);
  EXPECT_TRUE(std::isnan(use[Use::cpu_waiting_seconds])) << "v1 has no pressure";
  EXPECT_TRUE(std::isnan(use[Use::oom_kills])) << "no such file there: absent, not zero";
}

TEST(GroupReader, says_when_the_group_is_gone) {
  CgroupPaths gone;
  gone.unified = true;
  gone.v2 = "/sys/fs/cgroup/nosuch";
  GroupReader reader(sysroot("docker-cgroup-v2"), gone);
  GroupUse use;
  EXPECT_FALSE(reader.read(use));
}

class GroupOfV1 : public ::testing::Test {
 public:
  ~GroupOfV1() override { fs::remove_all(folder); }

 protected:
  GroupOfV1() {
    std::string pattern = fs::temp_directory_path() / "assay-group-XXXXXX";
    folder = ::mkdtemp(pattern.data());
    paths.cpuacct = "/cpuacct";
    paths.memory = "/memory";
    write("cpuacct/cpuacct.usage", "1000000000");
  }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((folder / file).parent_path());
    ASSERT_TRUE(write_file(folder / file, text));
  }

  fs::path folder;
  CgroupPaths paths;
};

TEST_F(GroupOfV1, what_is_made_later_in_another_hierarchy_is_read_too) {
  GroupReader reader(SysRoot(folder), paths);
  GroupUse use;
  ASSERT_TRUE(reader.read(use));
  EXPECT_FALSE(reader.read_slow(use)) << "there is memory to measure, and it was not";
  EXPECT_TRUE(std::isnan(use[Use::memory_peak]));
  write("memory/memory.max_usage_in_bytes", "5000");
  reader.open_missing();
  EXPECT_TRUE(reader.read_slow(use));
  EXPECT_DOUBLE_EQ(use[Use::memory_peak], 5000);
}

TEST_F(GroupOfV1, a_peak_that_can_no_longer_be_read_is_told) {
  write("memory/memory.max_usage_in_bytes", "5000");
  GroupReader reader(SysRoot(folder), paths);
  GroupUse use;
  EXPECT_TRUE(reader.read_slow(use));
  fs::resize_file(folder / "memory/memory.max_usage_in_bytes", 0);  // as of a folder that is gone
  EXPECT_FALSE(reader.read_slow(use));
  EXPECT_DOUBLE_EQ(use[Use::memory_peak], 5000) << "what was read before stays";
}

TEST(GroupText, without_the_file_cache_there_is_no_working_set) {
  GroupUse use;
  use[Use::memory] = 5000;
  take_memory_stat_v2("anon 100\nfile 200\n", use);
  EXPECT_DOUBLE_EQ(use[Use::memory_rss], 100);
  EXPECT_TRUE(std::isnan(use[Use::memory_working_set]));
  take_memory_stat_v2("inactive_file 6000\n", use);
  EXPECT_DOUBLE_EQ(use[Use::memory_working_set], 0) << "never below nothing";
}

TEST(GroupText, disks_of_v1_by_device_without_loops) {
  GroupUse use;
  take_blkio("8:0 Read 10\n8:0 Write 20\n8:0 Total 30\n7:1 Read 5\nTotal 35\n", BlkioUnit::bytes,
             use);
  take_blkio("8:0 Read 1\n8:0 Write 2\n", BlkioUnit::operations, use);
  ASSERT_EQ(use.disks.size(), 1U);
  EXPECT_DOUBLE_EQ(use.disks[0].read_bytes, 10);
  EXPECT_DOUBLE_EQ(use.disks[0].write_bytes, 20);
  EXPECT_DOUBLE_EQ(use.disks[0].writes, 2);
}

TEST(GroupText, interfaces_without_loopback) {
  const auto text = sysroot("docker-cgroup-v2").read("/proc/468/net/dev");
  GroupUse use;
  take_net_dev(*text, use);
  ASSERT_EQ(use.interfaces.size(), 1U);
  EXPECT_STREQ(use.interfaces[0].name.data(), "eth0");
  EXPECT_DOUBLE_EQ(use.interfaces[0].received.bytes, 1252);
  EXPECT_DOUBLE_EQ(use.interfaces[0].received.packets, 14);
  EXPECT_DOUBLE_EQ(use.interfaces[0].sent.bytes, 0);
}

TEST(GroupText, more_devices_than_any_machine_has_are_not_kept) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i + 10) + ":0 rbytes=1 wbytes=1\n";
  GroupUse use;
  take_io_stat(text, use);
  EXPECT_EQ(use.disks.size(), 64U);
}

}  // namespace
}  // namespace assay::probes
