// SPDX-License-Identifier: Apache-2.0
#include "process/wire.h"

#include <sys/socket.h>

#include <assay/base/files.h>
#include <gtest/gtest.h>

namespace assay::launch {
namespace {

StartOrder sample() {
  StartOrder order;
  order.argv = {"python3", "app.py", ""};
  order.env = {"A=1", "B=two words"};
  order.workdir = "/tmp";
  order.stdout_file = "/tmp/out";
  order.stderr_file = "/tmp/err";
  order.unified = true;
  order.cgroups = {"/sys/fs/cgroup/x"};
  return order;
}

struct Pair {
  Pair() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    left = Fd(ends[0]);
    right = Fd(ends[1]);
  }
  Fd left;
  Fd right;
};

TEST(Wire, an_order_to_start_survives_the_trip) {
  const auto decoded = decode(encode(sample()));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, sample());
}

TEST(Wire, a_cut_or_padded_order_is_refused) {
  const std::string bytes = encode(sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode(bytes + "x"));
}

TEST(Wire, a_length_beyond_the_end_is_refused) {
  std::string bytes = encode(sample());
  bytes[4] = '\xff';  // the length of argv[0]
  bytes[7] = '\xff';
  EXPECT_FALSE(decode(bytes));
}

TEST(Wire, an_order_of_many_packets_arrives_whole) {
  Pair pair;
  StartOrder order = sample();
  order.env.push_back("LONG=" + std::string(100'000, 'x'));
  ASSERT_TRUE(send_start(pair.left.get(), order));
  const auto head = receive_order(pair.right.get(), Wait::yes);
  ASSERT_TRUE(head.message);
  EXPECT_EQ(head.message->kind, OrderKind::start);
  EXPECT_EQ(receive_start(pair.right.get(), head.message->value), order);
}

TEST(Wire, nothing_yet_differs_from_closed) {
  Pair pair;
  EXPECT_FALSE(receive_report(pair.left.get(), Wait::no).closed);
  pair.right.reset();
  EXPECT_TRUE(receive_report(pair.left.get(), Wait::no).closed);
}

TEST(Wire, a_packet_of_the_wrong_size_counts_as_closed) {
  Pair pair;
  ASSERT_EQ(::send(pair.right.get(), "junk", 4, 0), 4);
  EXPECT_TRUE(receive_report(pair.left.get(), Wait::yes).closed);
}

TEST(Wire, sending_to_nobody_is_an_error_and_no_signal) {
  Pair pair;
  pair.right.reset();
  EXPECT_FALSE(send_order(pair.left.get(), {OrderKind::release, 0}));
}

}  // namespace
}  // namespace assay::launch
