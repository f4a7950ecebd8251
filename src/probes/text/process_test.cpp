// SPDX-License-Identifier: Apache-2.0
#include "text/process.h"

#include <string>

#include <gtest/gtest.h>

namespace assay::probes {
namespace {

std::string stat_of(const std::string& name) {
  return "77 (" + name +
         ") S 1 77 77 0 -1 4194304 10 20 30 40 50 60 70 80 20 0 9 0 12345 1000 250 1 2 3\n";
}

TEST(ProcessStat, reads_the_numbered_fields) {
  const std::string text = stat_of("app");
  const auto stat = parse_process_stat(text);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, 77);
  EXPECT_EQ(stat->name, "app");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 1);
  EXPECT_EQ(stat->minor_faults, 10U);
  EXPECT_EQ(stat->child_minor_faults, 20U);
  EXPECT_EQ(stat->major_faults, 30U);
  EXPECT_EQ(stat->child_major_faults, 40U);
  EXPECT_EQ(stat->user_ticks, 50U);
  EXPECT_EQ(stat->system_ticks, 60U);
  EXPECT_EQ(stat->child_user_ticks, 70U);
  EXPECT_EQ(stat->child_system_ticks, 80U);
  EXPECT_EQ(stat->threads, 9U);
  EXPECT_EQ(stat->start_ticks, 12345U);
  EXPECT_EQ(stat->rss_pages, 250U);
}

TEST(ProcessStat, takes_any_name_a_process_may_give_itself) {
  for (const std::string name : {"a b", ") R 7 (", "((", "))", "", "new\nline", "12 (x) S 3"}) {
    const std::string text = stat_of(name);
    const auto stat = parse_process_stat(text);
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->name, name);
    EXPECT_EQ(stat->parent, 1) << name;
  }
}

TEST(ProcessStat, refuses_what_is_cut_or_foreign) {
  const std::string whole = stat_of("app");
  const size_t last_field = whole.find(" 250");
  for (size_t length = 0; length < last_field; ++length) {
    EXPECT_FALSE(parse_process_stat(whole.substr(0, length))) << length;
  }
  EXPECT_FALSE(parse_process_stat("-1 (x) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"));
  EXPECT_FALSE(parse_process_stat("99999999999999999999 (x) S"));
}

TEST(ProcessStatus, has_no_memory_for_a_zombie) {
  const auto live = parse_process_status(
      "Name:\tPid:\nState:\tR (running)\nTgid:\t7\nPid:\t8\nPPid:\t3\nVmHWM:\t  20 kB\nVmRSS:\t 10 "
      "kB\n"
      "VmSwap:\t 1 kB\nThreads:\t4\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n");
  ASSERT_TRUE(live);
  EXPECT_EQ(live->pid, 8);
  EXPECT_EQ(live->group, 7);
  EXPECT_EQ(live->parent, 3);
  EXPECT_EQ(live->state, 'R');
  EXPECT_EQ(live->threads, 4U);
  EXPECT_EQ(live->rss_bytes, 10240U);
  EXPECT_EQ(live->peak_rss_bytes, 20480U);
  EXPECT_EQ(live->swap_bytes, 1024U);
  EXPECT_EQ(live->voluntary_switches, 5U);
  EXPECT_EQ(live->forced_switches, 6U);

  const auto zombie = parse_process_status(
      "Name:\tx\nState:\tZ (zombie)\nTgid:\t8\nPid:\t8\nPPid:\t3\nThreads:\t1\n");
  ASSERT_TRUE(zombie);
  EXPECT_EQ(zombie->state, 'Z');
  EXPECT_FALSE(zombie->rss_bytes);
  EXPECT_FALSE(parse_process_status("Name:\tx\n"));
}

TEST(WaitingTime, is_the_second_number) {
  EXPECT_EQ(parse_waiting_ns("5000000000 250000000 121\n"), 250000000U);
  EXPECT_FALSE(parse_waiting_ns("5000000000\n"));
  EXPECT_FALSE(parse_waiting_ns("1 x 3\n"));
  EXPECT_FALSE(parse_waiting_ns(""));
}

TEST(ProcessIo, does_not_take_cancelled_writes_for_writes) {
  const auto io = parse_process_io(
      "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: "
      "6\ncancelled_write_bytes: 7\n");
  ASSERT_TRUE(io);
  EXPECT_EQ(io->read_bytes, 5U);
  EXPECT_EQ(io->write_bytes, 6U);
  EXPECT_FALSE(parse_process_io("cancelled_write_bytes: 7\nread_bytes: 1\n"));
}

}  // namespace
}  // namespace assay::probes
