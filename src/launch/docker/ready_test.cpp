// SPDX-License-Identifier: Apache-2.0
#include "docker/ready.h"

#include "process/testing.h"

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using testing::TempFolder;

constexpr const char* kHead =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n";

bool listens_in(const std::string& table, const std::string& line, int port) {
  const TempFolder folder;
  folder.write("proc/7/net/" + table, kHead + line);
  return listens(SysRoot(folder.path()), 7, port);
}

TEST(Listens, finds_a_port_of_any_address) {
  EXPECT_TRUE(listens_in("tcp", "   0: 00000000:1F40 00000000:0000 0A 00000000:00000000\n", 8000));
  EXPECT_TRUE(listens_in("tcp", "  12: 020011AC:1F40 00000000:0000 0A 00000000:00000000\n", 8000));
  EXPECT_TRUE(listens_in("tcp6",
                         "   0: 00000000000000000000000000000000:1F40 "
                         "00000000000000000000000000000000:0000 0A 00000000:00000000\n",
                         8000));
}

TEST(Listens, takes_no_other_port_no_connection_and_no_end_of_one) {
  EXPECT_FALSE(listens_in("tcp", "   0: 00000000:1F41 00000000:0000 0A 00000000:00000000\n", 8000));
  EXPECT_FALSE(listens_in("tcp", "   0: 020011AC:1F40 030011AC:9000 01 00000000:00000000\n", 8000));
  EXPECT_FALSE(listens_in("tcp", "   0: 020011AC:9000 030011AC:1F40 06 00000000:00000000\n", 8000));
}

/// The app is on another address: it could not reach these.
TEST(Listens, takes_nothing_that_only_the_container_itself_reaches) {
  EXPECT_FALSE(listens_in("tcp", "   0: 0100007F:1F40 00000000:0000 0A 00000000:00000000\n", 8000));
  EXPECT_FALSE(listens_in("tcp", "   0: 0B00007F:1F40 00000000:0000 0A 00000000:00000000\n", 8000));
  EXPECT_FALSE(listens_in("tcp6",
                          "   0: 00000000000000000000000001000000:1F40 "
                          "00000000000000000000000000000000:0000 0A 00000000:00000000\n",
                          8000));
  EXPECT_FALSE(listens_in("tcp6",
                          "   0: 0000000000000000FFFF00000100007F:1F40 "
                          "00000000000000000000000000000000:0000 0A 00000000:00000000\n",
                          8000));
}

TEST(Listens, is_false_for_a_process_that_is_gone) {
  const TempFolder folder;
  EXPECT_FALSE(listens(SysRoot(folder.path()), 7, 8000));
}

TEST(LogWatch, finds_a_text_that_comes_in_pieces) {
  const TempFolder folder;
  LogWatch watch(folder.path() / "log", "is ready");
  EXPECT_FALSE(watch.seen());
  folder.write("log", "server is");
  EXPECT_FALSE(watch.seen());
  folder.write("log", "server is rea");
  EXPECT_FALSE(watch.seen());
  folder.write("log", "server is ready\n");
  EXPECT_TRUE(watch.seen());
  EXPECT_TRUE(watch.seen());
}

TEST(LogWatch, waits_for_nothing_without_a_text) {
  EXPECT_TRUE(LogWatch("/nowhere", "").seen());
}

TEST(LastLines, are_the_last_ones_without_what_a_terminal_would_obey) {
  const TempFolder folder;
  folder.write("log", "one\ntwo\n\n\x1b[2Jthree\n");
  EXPECT_EQ(last_lines(folder.path() / "log", 2), "\n  two\n   [2Jthree");
  EXPECT_EQ(last_lines(folder.path() / "none", 2), "");
}

}  // namespace
}  // namespace assay::launch
