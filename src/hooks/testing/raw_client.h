// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "unix_socket.h"

#include <assay.hpp>
#include <bit>
#include <filesystem>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include <assay/base/files.h>
#include <gtest/gtest.h>

namespace assay::hooks {

/// A client that does what a test tells it, also to its shared memory.
class RawClient {
 public:
  explicit RawClient(const std::filesystem::path& path)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto address = SocketAddress::of(path);
    EXPECT_EQ(::connect(socket_.get(), address->get(), sizeof address->raw), 0);
  }

  void say(std::string_view text) const { EXPECT_TRUE(write_all(socket_.get(), text)); }
  int memory() const { return memory_.get(); }

  bool receive_memory() {
    const client::shared::Answer answer = client::shared::receive(socket_.get());
    if (answer.fd < 0) return false;
    memory_ = Fd(answer.fd);
    return answer.offer.magic == client::shared::kMagic &&
           answer.offer.bytes == client::shared::kBytes;
  }

  void store(size_t offset, uint64_t word) const {
    EXPECT_EQ(::pwrite(memory(), &word, sizeof word, static_cast<off_t>(offset)), 8);
  }
  uint64_t load(size_t offset) const {
    uint64_t word = 0;
    EXPECT_EQ(::pread(memory(), &word, sizeof word, static_cast<off_t>(offset)), 8);
    return word;
  }

  /// Writes an event and leaves the lane's head as it was.
  void begin_event(size_t lane, uint32_t slot, double value, double time = 0) const {
    const uint64_t head = load(head_of(lane));
    const size_t event = event_of(lane, head);
    store(event, (head + 1) << 32U | slot);
    store(event + 8, std::bit_cast<uint64_t>(value));
    store(event + 16, std::bit_cast<uint64_t>(time));
  }
  void put(size_t lane, uint32_t slot, double value, double time) const {
    begin_event(lane, slot, value, time);
    store(client::shared::kLanesInUse, load(client::shared::kLanesInUse) | uint64_t{1} << lane);
    store(head_of(lane), load(head_of(lane)) + 1);
  }
  void corrupt_last(size_t lane) const { store(event_of(lane, load(head_of(lane)) - 1), 0); }

  /// As many events as the lane holds.
  void fill(size_t lane, uint32_t slot) const {
    const uint64_t head = load(head_of(lane));
    std::vector<uint64_t> words(client::shared::kEvents * 3);
    for (uint64_t i = 0; i < client::shared::kEvents; ++i) {
      const size_t place = (head + i) % client::shared::kEvents * 3;
      words[place] = (head + i + 1) << 32U | slot;
      words[place + 2] = std::bit_cast<uint64_t>(1.7e9);
    }
    EXPECT_EQ(
        ::pwrite(memory(), words.data(), words.size() * 8, static_cast<off_t>(event_of(lane, 0))),
        static_cast<ssize_t>(words.size() * 8));
    store(client::shared::kLanesInUse, UINT64_MAX);
    store(head_of(lane), head + client::shared::kEvents);
  }

  void add(size_t histogram, int64_t nanoseconds, uint32_t count) const {
    using namespace client::shared;
    const size_t bucket = bucket_of(nanoseconds);
    const size_t head = kFirstHistogram + histogram * kHistogramBytes;
    const auto at = static_cast<off_t>(kFirstBucket + (histogram * kBuckets + bucket) * 4);
    EXPECT_EQ(::pwrite(memory(), &count, sizeof count, at), 4);
    store(head + kGroupsInUse, uint64_t{1} << bucket / kGroupSize);
  }

 private:
  static size_t head_of(size_t lane) {
    return client::shared::kFirstLane + lane * client::shared::kLaneBytes + client::shared::kHead;
  }
  static size_t event_of(size_t lane, uint64_t position) {
    using namespace client::shared;
    return kFirstEvent + (lane * kEvents + position % kEvents) * kEventBytes;
  }

  Fd socket_;
  Fd memory_;
};

}  // namespace assay::hooks
