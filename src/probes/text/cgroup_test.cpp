// SPDX-License-Identifier: Apache-2.0
#include "text/cgroup.h"

#include "text/cgroup_paths.h"

#include <gtest/gtest.h>

namespace assay::probes {
namespace {

TEST(CpuStat, v2_has_microseconds_and_v1_nanoseconds) {
  const auto v2 = parse_cpu_stat_v2(
      "usage_usec 3000000\nuser_usec 2000000\nsystem_usec 1000000\nthrottled_usec 5\n");
  EXPECT_DOUBLE_EQ(v2.usage_seconds.value(), 3);
  EXPECT_DOUBLE_EQ(v2.user_seconds.value(), 2);
  EXPECT_DOUBLE_EQ(v2.system_seconds.value(), 1);
  EXPECT_DOUBLE_EQ(v2.throttled_seconds.value(), 5e-6);
  EXPECT_FALSE(parse_cpu_stat_v2("usage_usec 3\n").throttled_seconds)
      << "without the cpu controller";
  EXPECT_DOUBLE_EQ(
      parse_cpu_stat_v1("nr_throttled 1\nthrottled_time 2000000000\n").throttled_seconds.value(),
      2);
}

TEST(Cpuacct, has_nanoseconds_and_ticks) {
  EXPECT_DOUBLE_EQ(parse_cpuacct_usage("1500000000\n").value(), 1.5);
  EXPECT_FALSE(parse_cpuacct_usage("-5\n"));
  EXPECT_EQ(parse_cpuacct_stat("user 7\nsystem 8\n")->system_ticks, 8U);
  EXPECT_FALSE(parse_cpuacct_stat("user 7\n"));
}

TEST(MemoryStat, v1_takes_the_totals_with_groups_below) {
  const auto v1 = parse_memory_stat_v1(
      "cache 1\ninactive_file 2\npgfault 3\ntotal_cache 10\ntotal_swap 5\ntotal_inactive_file 20\n"
      "total_pgfault 30\ntotal_pgmajfault 40\n");
  EXPECT_EQ(v1.cache, 10U);
  EXPECT_EQ(v1.inactive_file, 20U);
  EXPECT_EQ(v1.swap, 5U);
  EXPECT_EQ(v1.faults, 30U);
  EXPECT_EQ(v1.major_faults, 40U);
  const auto v2 = parse_memory_stat_v2(
      "anon 1\nfile 2\nfile_mapped 9\ninactive_file 3\npgfault 4\npgmajfault 5\n");
  EXPECT_EQ(v2.cache, 2U);
  EXPECT_EQ(v2.inactive_file, 3U);
}

TEST(IoStat, adds_up_disks_and_leaves_loop_out) {
  const auto io = parse_io_stat(
      "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5\n8:16 rbytes=10\n7:0 rbytes=99\nx\n9:0 =\n");
  EXPECT_EQ(io.read_bytes, 11U);
  EXPECT_EQ(io.write_bytes, 2U);
  EXPECT_EQ(io.reads, 3U);
  EXPECT_EQ(io.writes, 4U);
}

TEST(Blkio, tells_nothing_counted_from_counted_nothing) {
  const auto some = parse_blkio("8:0 Read 5\n8:0 Write 6\n8:0 Total 11\n7:0 Read 9\nTotal 11\n");
  EXPECT_EQ(some.devices, 1U);
  EXPECT_EQ(some.read, 5U);
  EXPECT_EQ(some.write, 6U);
  EXPECT_EQ(parse_blkio("Total 0\n").devices, 0U);
}

TEST(CgroupLines, are_taken_apart) {
  const auto mount = parse_mountinfo_line(
      "32 31 0:29 /docker/x /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup "
      "rw,cpu,cpuacct");
  ASSERT_TRUE(mount);
  EXPECT_FALSE(mount->unified);
  EXPECT_EQ(mount->root, "/docker/x");
  EXPECT_EQ(mount->mount_point, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_TRUE(has_word(mount->options, "cpuacct"));
  EXPECT_FALSE(has_word(mount->options, "acct"));
  EXPECT_FALSE(parse_mountinfo_line("22 27 0:21 / /proc rw - proc proc rw"));
  EXPECT_TRUE(parse_mounts_line("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0")->unified);
  EXPECT_FALSE(parse_mounts_line("cgroup"));
  EXPECT_EQ(parse_cgroup_line("5:cpu,cpuacct:/a:b")->path, "/a:b");
  EXPECT_EQ(parse_cgroup_line("0::/x")->controllers, "");
  EXPECT_FALSE(parse_cgroup_line("x::/"));
  EXPECT_FALSE(parse_cgroup_line("0::"));
}

}  // namespace
}  // namespace assay::probes
