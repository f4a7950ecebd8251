// SPDX-License-Identifier: Apache-2.0
// Many callers at one server, over the socket and through shared memory, of good and ill will.
#include "testing/allocations.h"
#include "testing/raw_client.h"
#include "testing/reports.h"

#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <poll.h>
#include <random>
#include <string>
#include <vector>

#include <assay/hooks/server.h>
#include <gtest/gtest.h>

namespace assay::hooks {
namespace {
namespace fs = std::filesystem;
namespace shared = client::shared;

constexpr int64_t kNow = 1'700'000'000;

class ManyCallers : public testing::Test {
 public:
  ManyCallers() {
    std::string pattern = fs::temp_directory_path() / "assay-hooks-XXXXXX";
    dir_ = mkdtemp(pattern.data());
  }
  ~ManyCallers() override {
    server_.reset();
    fs::remove_all(dir_);
  }

 protected:
  void start(const Limits& limits = {}) {
    auto server = listen(dir_ / "s", clock_, reports_, limits);
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
  }
  RawClient connect() const { return RawClient(dir_ / "s"); }
  /// A client that has got its memory.
  RawClient meet() {
    RawClient client = connect();
    client.say("{}\n");
    server_->poll();
    EXPECT_TRUE(client.receive_memory());
    return client;
  }
  void drain() {
    pollfd waiting{server_->fd(), POLLIN, 0};
    do server_->poll();
    while (::poll(&waiting, 1, 0) == 1);
  }
  Reports::Told& caller(size_t index = 0) { return reports_.callers.at(index); }
  uint64_t nonsense(size_t index = 0) { return caller(index).lost("shared memory makes no sense"); }

  fs::path dir_;
  ManualClock clock_{from_unix_ns(kNow * 1'000'000'000)};
  Reports reports_;
  std::unique_ptr<Server> server_;
};

TEST_F(ManyCallers, are_kept_apart_under_the_same_names) {
  start();
  const RawClient one = connect();
  const RawClient two = connect();
  one.say("{\"fps\": 1}\n{\"birds\": {\"kind\": \"app\"}}\n");
  two.say("{\"fps\": 2}\n{\"clouds\": {\"kind\": \"app\"}}\n");
  drain();
  ASSERT_EQ(reports_.callers.size(), 2U);
  EXPECT_EQ(caller(0).find("fps")->values, std::vector<double>{1});
  EXPECT_EQ(caller(0).app, "birds");
  EXPECT_EQ(caller(0).caller.pid, ::getpid());
  EXPECT_EQ(caller(0).caller.uid, ::getuid());
  EXPECT_GT(caller(0).caller.start_ticks, 0U);
  EXPECT_EQ(caller(1).find("fps")->values, std::vector<double>{2});
  EXPECT_EQ(caller(1).app, "clouds");
}

TEST_F(ManyCallers, may_use_lines_alone) {
  start();
  {
    const RawClient client = connect();
    client.say(
        "{\"latency\": {\"kind\": \"timer\", \"value\": 0.25}}\n\n{\"latency\": 0.75}\n\n"
        "{\"fps\": {\"kind\": \"rate\", \"value\": 9}, \"n\": {\"kind\": \"counter\", \"value\": "
        "3}}\n\n"
        "{\"latency\": -1}\n\n{\"delay\": {\"value\": 5, \"unit\": \"ms\"}}\n\n");
    drain();
  }
  drain();
  const auto* latency = caller().find("latency");
  EXPECT_EQ(latency->durations.count(), 2U);
  EXPECT_DOUBLE_EQ(latency->durations.sum(), 1);
  EXPECT_TRUE(latency->values.empty());
  EXPECT_EQ(caller().find("fps")->info.kind, ReportKind::rate);
  EXPECT_EQ(caller().find("fps")->info.unit, "per second");
  EXPECT_EQ(caller().find("n")->info.kind, ReportKind::counter);
  EXPECT_EQ(caller().find("delay")->values, std::vector<double>{0.005});
  EXPECT_EQ(caller().lost("value is NaN, infinite or out of range"), 1U) << "no time runs back";
  EXPECT_TRUE(caller().gone);
}

TEST_F(ManyCallers, hear_nothing_unless_they_ask_and_are_answered_once) {
  start();
  RawClient quiet = connect();
  quiet.say("{\"a\": 1}\n");
  drain();
  EXPECT_FALSE(quiet.receive_memory());
  RawClient asks = meet();
  asks.say("{}\n{}\n");
  drain();
  EXPECT_FALSE(asks.receive_memory());
}

TEST_F(ManyCallers, cannot_resize_the_memory) {
  start();
  const RawClient client = meet();
  EXPECT_NE(::ftruncate(client.memory(), 0), 0);
  EXPECT_NE(::ftruncate(client.memory(), 1 << 30), 0);
  EXPECT_NE(::fcntl(client.memory(), F_ADD_SEALS, F_SEAL_WRITE), 0);
}

TEST_F(ManyCallers, report_through_shared_memory) {
  start();
  const RawClient client = meet();
  client.say("{\"n\": {\"kind\": \"number\", \"slot\": 2}}\n");
  for (int i = 0; i < 3; ++i) client.put(0, 2, i, kNow - 1);
  client.say("{\"t\": {\"kind\": \"timer\", \"histogram\": 1}}\n");
  client.add(1, 1'000'000, 7);
  drain();
  EXPECT_EQ(caller().find("n")->values, (std::vector<double>{0, 1, 2}));
  EXPECT_NEAR(seconds(clock_.now() - caller().find("n")->times.at(0)), 1, 1e-6);
  EXPECT_EQ(caller().find("t")->durations.count(), 7U);
  EXPECT_NEAR(caller().find("t")->durations.sum(), 0.007, 0.007 * 0.008);
  EXPECT_NEAR(caller().find("t")->durations.quantile(0.5), 0.001, 0.00001);
  EXPECT_TRUE(caller().losses.empty());
}

TEST_F(ManyCallers, cannot_make_a_timer_of_a_number) {
  start();
  const RawClient client = meet();
  client.say("{\"n\": 1}\n{\"n\": {\"kind\": \"timer\", \"histogram\": 0}}\n");
  client.add(0, 1000, 1);
  drain();
  EXPECT_EQ(caller().find("n")->info.kind, ReportKind::number);
  EXPECT_EQ(caller().find("n")->durations.count(), 0U);
  EXPECT_EQ(caller().lost("kind is another than at first"), 1U);
}

TEST_F(ManyCallers, are_looked_at_once_in_an_interval) {
  Limits limits;
  limits.visit_interval = std::chrono::seconds(1);
  start(limits);
  const RawClient client = meet();
  client.say("{\"n\": {\"slot\": 0}}\n");
  drain();
  client.put(0, 0, 1, kNow);
  server_->poll();
  EXPECT_TRUE(caller().find("n")->values.empty());
  client.say("\n");
  server_->poll();
  EXPECT_EQ(caller().find("n")->values.size(), 1U) << "it asked";
  client.put(0, 0, 2, kNow);
  clock_.advance(std::chrono::seconds(1));
  server_->poll();
  EXPECT_EQ(caller().find("n")->values.size(), 2U);
  client.put(0, 0, 3, kNow);
  server_->visit_every(std::chrono::milliseconds(100));
  clock_.advance(std::chrono::milliseconds(100));
  server_->poll();
  EXPECT_EQ(caller().find("n")->values.size(), 3U) << "more often from now on";
}

TEST_F(ManyCallers, lose_what_makes_no_sense_and_nothing_else) {
  start();
  const RawClient client = meet();
  client.say("{\"n\": {\"slot\": 0}}\n");
  client.put(0, 0, 1, kNow);
  client.put(0, 77, 2, kNow);
  client.put(0, 0, std::numeric_limits<double>::quiet_NaN(), kNow);
  client.put(0, 0, 3, std::numeric_limits<double>::quiet_NaN());
  client.put(0, 0, 4, 1e300);
  client.corrupt_last(0);
  client.put(0, 0, 5, kNow);
  drain();
  EXPECT_EQ(caller().find("n")->values, (std::vector<double>{1, 3, 5}));
  EXPECT_EQ(caller().lost("event of a metric that was not named"), 1U);
  EXPECT_EQ(caller().lost("value is NaN, infinite or out of range"), 1U);
  EXPECT_EQ(nonsense(), 1U);
}

TEST_F(ManyCallers, with_an_impossible_ring_lose_it_once) {
  start();
  const RawClient client = meet();
  client.say("{\"n\": {\"slot\": 0}}\n");
  client.store(shared::kLanesInUse, UINT64_MAX);
  for (const uint64_t head : {uint64_t{5000}, uint64_t{3}, UINT64_MAX}) {
    client.store(shared::kFirstLane + shared::kHead, head);
    const uint64_t before = nonsense();
    drain();
    EXPECT_EQ(nonsense(), before + 1) << head;
    drain();
    EXPECT_EQ(nonsense(), before + 1) << "and not again";
  }
  client.put(0, 0, 7, kNow);
  drain();
  EXPECT_EQ(caller().find("n")->values, std::vector<double>{7}) << "it goes on from there";
}

TEST_F(ManyCallers, left_in_the_middle_of_an_event_lose_that_one) {
  start();
  {
    const RawClient client = meet();
    client.say("{\"n\": {\"slot\": 0}}\n");
    client.put(0, 0, 1, kNow);
    client.begin_event(0, 0, 2);
  }
  drain();
  EXPECT_EQ(caller().find("n")->values, std::vector<double>{1});
  EXPECT_TRUE(caller().gone);
  EXPECT_TRUE(caller().losses.empty());
}

TEST_F(ManyCallers, with_random_memory_cost_a_bounded_turn) {
  start();
  std::mt19937_64 random(11);
  const RawClient client = meet();
  for (int i = 0; i < 64; ++i) {
    client.say("{\"t" + std::to_string(i) + "\": {\"kind\": \"timer\", \"histogram\": " +
               std::to_string(i) + "}}\n{\"n\": {\"slot\": 0}}\n");
  }
  std::vector<uint64_t> noise(shared::kBytes / 8);
  for (int round = 0; round < 5; ++round) {
    for (uint64_t& word : noise) word = random();
    ASSERT_EQ(::pwrite(client.memory(), noise.data(), shared::kBytes, 0),
              static_cast<ssize_t>(shared::kBytes));
    client.store(shared::kLanesInUse, UINT64_MAX);
    for (size_t lane = 0; lane < shared::kLanes; ++lane) {
      const size_t head = shared::kFirstLane + lane * shared::kLaneBytes + shared::kHead;
      client.store(head, 1000U * static_cast<uint64_t>(round));
    }
    server_->poll();
  }
  EXPECT_EQ(nonsense(), 8U * 4000U) << "each event once";
}

TEST_F(ManyCallers, of_ten_thousand_names_get_a_thousand) {
  start();
  const RawClient client = connect();
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "{\"n" + std::to_string(i) + "\": 1}\n";
  client.say(text);
  drain();
  EXPECT_EQ(caller().reports.size(), 1000U);
  EXPECT_EQ(caller().lost("too many different names"), 9000U);
  const RawClient other = connect();
  other.say("{\"fps\": 1}\n");
  drain();
  EXPECT_NE(caller(1).find("fps"), nullptr) << "the names of one do not count for another";
}

TEST_F(ManyCallers, share_a_bounded_memory) {
  Limits limits;
  limits.caller_bytes = 20'000;
  limits.bytes = 50'000;
  start(limits);
  std::vector<RawClient> clients;
  for (size_t c = 0; c < 4; ++c) {
    clients.push_back(connect());
    for (int i = 0; i < 100; ++i) {
      clients.back().say("{\"t" + std::to_string(i) + "\": {\"kind\": \"timer\", \"value\": 1}}\n");
    }
    drain();
  }
  EXPECT_LT(caller(0).reports.size(), 40U);
  EXPECT_GT(caller(0).reports.size(), 5U);
  EXPECT_GT(caller(0).lost("no memory left for what the client reports"), 0U);
  EXPECT_TRUE(caller(3).reports.empty()) << "nothing was left";
  clients.erase(clients.begin());
  drain();
  clients.push_back(connect());
  clients.back().say("{\"fps\": 1}\n");
  drain();
  EXPECT_NE(caller(4).find("fps"), nullptr) << "the first one's share was given back";
}

/// Counts and forgets.
class Counting final : public ReportSink {
 public:
  CallerId caller_connected(const Caller&) override { return CallerId(callers++); }
  void caller_named(CallerId, std::string_view) override {}
  void caller_gone(CallerId) override {}
  ReportId declare(CallerId, const ReportInfo&) override { return ReportId(0); }
  void value(CallerId, ReportId, Timestamp, double) override { ++values; }
  void durations(CallerId, ReportId, Timestamp, const Histogram& added) override {
    counted += added.count();
  }
  void lost(std::optional<CallerId>, std::string_view, uint64_t count) override { losses += count; }
  uint32_t callers = 0;
  uint64_t values = 0;
  uint64_t counted = 0;
  uint64_t losses = 0;
};

TEST_F(ManyCallers, a_hundred_that_flood_get_turns_of_a_bounded_size) {
  constexpr size_t kClients = 100;
  Counting sink;
  Limits limits;
  limits.bytes_per_poll = 65536;
  limits.bytes = 8U << 20U;
  server_ = std::move(*listen(dir_ / "s", clock_, sink, limits));
  std::vector<RawClient> clients;
  std::string lines;
  for (int i = 0; lines.size() < 60'000; ++i) {
    lines += "{\"t" + std::to_string(i) + "\": {\"kind\": \"timer\", \"value\": 1}, \"n\": 1}\n";
  }
  for (size_t c = 0; c < kClients; ++c) {
    clients.push_back(meet());
    clients.back().say("{\"n\": {\"slot\": 0}}\n");
  }
  server_->poll();
  for (int round = 0; round < 3; ++round) {
    for (const RawClient& client : clients) {
      client.say(lines);
      for (size_t lane = 0; lane < shared::kLanes; ++lane) client.fill(lane, 0);
    }
    const uint64_t values = sink.values;
    const size_t before = allocations_so_far();
    server_->poll();
    if (round > 0) {
      EXPECT_EQ(allocations_so_far(), before) << "all that it may take has been taken";
    }
    EXPECT_LE(sink.values - values,
              kClients * (shared::kLanes * shared::kEvents + size_t{2} * 65536 / 14));
    EXPECT_GE(sink.values - values, kClients * shared::kLanes * shared::kEvents);
  }
  EXPECT_GT(sink.losses, 0U) << "names beyond the bound";
  server_.reset();
}

}  // namespace
}  // namespace assay::hooks
