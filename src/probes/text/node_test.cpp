// SPDX-License-Identifier: Apache-2.0
#include "text/node.h"

#include "text/fields.h"
#include "text/pressure.h"

#include <gtest/gtest.h>

namespace assay::probes {
namespace {

TEST(Fields, a_key_is_a_whole_word_at_the_start_of_a_line) {
  const std::string_view text = "xpgfault 1\npgfault_all 2\n pgfault 3\npgfault 4\nlast";
  EXPECT_EQ(keyed_uint(text, "pgfault"), 4U);
  EXPECT_FALSE(keyed_uint(text, "last"));
  EXPECT_FALSE(keyed_uint("a 99999999999999999999999", "a"));
  EXPECT_EQ(keyed_text("a\t:  b c \n", "a"), "b c");
}

TEST(NodeStat, leaves_out_idle_waiting_and_stolen_time) {
  const auto stat =
      parse_node_stat("cpu  10 20 30 4000 5000 60 70 8000 9 1\ncpu0 1\nintr 5 6\nctxt 77\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->user_ticks, 30U);
  EXPECT_EQ(stat->system_ticks, 160U);
  EXPECT_EQ(stat->context_switches, 77U);
  EXPECT_FALSE(parse_node_stat("cpu0 1 2 3 4 5 6 7 8\n"));
  EXPECT_FALSE(parse_node_stat("cpu 1 2 3\n"));
}

TEST(Meminfo, a_missing_line_leaves_only_its_value_out) {
  const auto memory =
      parse_meminfo("MemTotal: 100 kB\nMemAvailable: 40 kB\nBuffers: 1 kB\nCached: 2 kB\n");
  EXPECT_EQ(memory.used, 60U * 1024);
  EXPECT_EQ(memory.cache, 3U * 1024);
  EXPECT_FALSE(memory.swap_used);
  EXPECT_EQ(parse_meminfo("MemTotal: 1 kB\nMemAvailable: 2 kB\n").used, 0U) << "no wrap below zero";
}

TEST(Diskstats, counts_whole_disks_once) {
  const auto disks = parse_diskstats(
      "   7 0 loop0 9 0 9 0 9 0 9 0\n   8 0 sda 10 0 100 0 20 0 200 0\n   8 1 sda1 9 0 90 0 9 0 90 "
      "0\n"
      " 259 0 nvme0n1 1 0 10 0 2 0 20 0\n 259 1 nvme0n1p1 1 0 10 0 2 0 20 0\n 259 2 nvme1n1 1 0 1 "
      "0 1 0 1 0\n"
      " 179 0 mmcblk0 1 0 1 0 1 0 1 0\n 179 8 mmcblk0boot0 1 0 1 0 1 0 1 0\n 253 0 dm-0 9 0 9 0 9 "
      "0 9 0\n"
      "   9 0 md127 9 0 9 0 9 0 9 0\n 252 0 zram0 9 0 9 0 9 0 9 0\n 8 16 sdb garbage\n");
  EXPECT_EQ(disks.disks, 5U);
  EXPECT_EQ(disks.reads, 14U);
  EXPECT_EQ(disks.writes, 25U);
  EXPECT_EQ(disks.read_bytes, 113U * 512);
  EXPECT_EQ(disks.write_bytes, 223U * 512);
}

TEST(NetDev, leaves_loopback_out_and_bridges_where_asked) {
  const std::string_view text =
      "Inter-| Receive | Transmit\n face |bytes packets|bytes\n    lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 "
      "0 0\n"
      "  eth0: 100 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0\ndocker0:7 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n";
  EXPECT_EQ(parse_net_dev(text, Interfaces::outward).receive_bytes, 100U);
  EXPECT_EQ(parse_net_dev(text, Interfaces::outward).transmit_bytes, 200U);
  EXPECT_EQ(parse_net_dev(text, Interfaces::all).receive_bytes, 107U);
  EXPECT_EQ(parse_net_dev(text, Interfaces::all).interfaces, 2U);
}

TEST(Loadavg, has_load_threads_and_the_last_pid) {
  const auto load = parse_loadavg("0.42 0.31 0.25 1/164 20511\n");
  ASSERT_TRUE(load);
  EXPECT_DOUBLE_EQ(load->load1, 0.42);
  EXPECT_EQ(load->threads, 164U);
  EXPECT_EQ(load->last_pid, 20511U);
  EXPECT_FALSE(parse_loadavg("nan 0 0 1/2 3"));
  EXPECT_FALSE(parse_loadavg("0.42 0.31 0.25 1/164"));
}

TEST(Pressure, reads_totals_and_copes_without_full) {
  const auto both = parse_pressure("some avg10=0.00 total=1500000\nfull avg10=0.00 total=500000\n");
  EXPECT_DOUBLE_EQ(both.waiting_seconds.value(), 1.5);
  EXPECT_DOUBLE_EQ(both.stalled_seconds.value(), 0.5);
  EXPECT_FALSE(parse_pressure("some avg10=0.00 total=1\n").stalled_seconds);
  EXPECT_FALSE(parse_pressure("some total=x\n").waiting_seconds);
}

TEST(FirstInt, may_be_negative_and_followed_by_more) {
  EXPECT_EQ(parse_first_int("-1500\n"), -1500);
  EXPECT_EQ(parse_first_int("1312\t0\t9\n"), 1312);
  EXPECT_FALSE(parse_first_int(""));
}

}  // namespace
}  // namespace assay::probes
