// SPDX-License-Identifier: Apache-2.0
#include "unix_socket.h"

#include <filesystem>
#include <poll.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include <assay/hooks/server.h>
#include <gtest/gtest.h>

namespace assay::hooks {
namespace {
namespace fs = std::filesystem;

constexpr int64_t kNow = 1'700'000'000;

class HookServer : public testing::Test {
 public:
  HookServer() {
    std::string pattern = fs::temp_directory_path() / "assay-hooks-XXXXXX";
    dir_ = mkdtemp(pattern.data());
  }
  ~HookServer() override {
    server_.reset();
    fs::remove_all(dir_);
  }

 protected:
  void start(const Limits& limits = {}) {
    auto server = listen(dir_ / "s", clock_, sink_, limits);
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
  }
  Fd connect() const {
    const auto address = SocketAddress::of(dir_ / "s");
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(fd.get(), address->get(), sizeof address->raw) != 0) fd.reset();
    return fd;
  }
  static void send(const Fd& client, std::string_view text) {
    ASSERT_TRUE(write_all(client.get(), text));
  }
  bool readable() const {
    pollfd waiting{server_->fd(), POLLIN, 0};
    return ::poll(&waiting, 1, 0) == 1;
  }
  /// Polls until there is nothing left to do; returns how often.
  int drain() {
    int polls = 0;
    for (; readable(); ++polls) server_->poll();
    return polls;
  }
  uint64_t lost(std::string_view reason) const {
    for (const Loss& loss : sink_.losses()) {
      if (loss.source == "hooks" && loss.reason == reason) return loss.count;
    }
    return 0;
  }

  fs::path dir_;
  ManualClock clock_{from_unix_ns(kNow * 1'000'000'000)};
  MemorySeries sink_;
  std::unique_ptr<Server> server_;
};

TEST_F(HookServer, records_what_a_client_sends) {
  start();
  EXPECT_FALSE(readable());
  server_->poll();
  const Fd client = connect();
  send(client,
       "{\"fps\": {\"value\": 12.5, \"timestamp\": 1699999999.9}}\n\n{\"latency\": 0.2}\n\n");
  EXPECT_TRUE(readable()) << "the descriptor nests in an event loop";
  drain();
  ASSERT_NE(sink_.find("fps"), nullptr);
  EXPECT_EQ(sink_.find("fps")->values, (std::vector<double>{12.5}));
  EXPECT_NEAR(seconds(sink_.find("fps")->times.at(0) - clock_.now()), -0.1, 1e-6);
  EXPECT_EQ(sink_.find("latency")->times.at(0), clock_.now()) << "stamped on arrival";
  EXPECT_NE(sink_.find("fps")->info.source.find(std::to_string(::getpid())), std::string::npos);
  EXPECT_EQ(server_->latest(), (std::map<std::string, double>{{"fps", 12.5}, {"latency", 0.2}}));
  EXPECT_TRUE(sink_.losses().empty());
}

TEST_F(HookServer, keeps_the_pieces_of_many_clients_apart) {
  start();
  std::vector<Fd> clients;
  clients.reserve(100);
  for (int i = 0; i < 100; ++i) clients.push_back(connect());
  const std::string name(20, 'n');
  for (int i = 0; i < 100; ++i) send(clients[static_cast<size_t>(i)], "{\"" + name);
  drain();
  for (int i = 0; i < 100; ++i) {
    send(clients[static_cast<size_t>(i)], std::to_string(i) + "\": " + std::to_string(i) + "}\n");
  }
  drain();
  EXPECT_EQ(server_->latest().size(), 100U);
  EXPECT_EQ(server_->latest().at(name + "42"), 42);
  EXPECT_TRUE(sink_.losses().empty());
}

TEST_F(HookServer, counts_bad_input_and_serves_on) {
  start();
  const Fd client = connect();
  send(client, "garbage\n\n{\"a\": NaN}\n\n{\"b\": true}\n\n{\"fps\": 1}\n\n");
  drain();
  EXPECT_EQ(sink_.find("fps")->values.size(), 1U);
  EXPECT_EQ(lost("message is not a JSON object"), 1U);
  EXPECT_EQ(lost("value is NaN, infinite or out of range"), 1U);
  EXPECT_EQ(lost("value is not a number"), 1U);
}

TEST_F(HookServer, takes_what_a_client_sent_before_it_left) {
  start();
  Fd client = connect();
  send(client, "{\"fps\": 1}\n\n{\"fps\": 2}");
  client.reset();
  Fd other = connect();
  send(other, "{\"fps\": ");
  other.reset();
  drain();
  EXPECT_EQ(sink_.find("fps")->values, (std::vector<double>{1, 2}));
  EXPECT_EQ(lost("client left in the middle of a message"), 1U);
}

TEST_F(HookServer, one_poll_hears_a_client_that_came_spoke_and_left) {
  start();
  Fd client = connect();
  send(client, "{\"fps\": 1}\n\n");
  client.reset();
  server_->poll();
  ASSERT_NE(sink_.find("fps"), nullptr);
}

TEST_F(HookServer, one_that_floods_leaves_room_for_the_others) {
  Limits limits;
  limits.bytes_per_poll = 4096;
  start(limits);
  const Fd flood = connect();
  const Fd quiet = connect();
  std::string text;
  while (text.size() < 40'000) text += "{\"flood\": 1}\n\n";
  send(flood, text);
  send(quiet, "{\"quiet\": 1}\n\n");
  server_->poll();
  ASSERT_NE(sink_.find("quiet"), nullptr);
  EXPECT_LE(sink_.find("flood")->values.size(), 4096 / 13);
  EXPECT_GE(drain(), 8) << "the rest in further turns";
  EXPECT_EQ(sink_.find("flood")->values.size(), text.size() / 14);
}

TEST_F(HookServer, refuses_more_clients_than_it_may_have) {
  Limits limits;
  limits.clients = 3;
  start(limits);
  std::vector<Fd> clients;
  clients.reserve(100);
  for (int i = 0; i < 5; ++i) clients.push_back(connect());
  drain();
  EXPECT_EQ(lost("too many clients at once"), 2U);
  char byte = 0;
  EXPECT_EQ(::read(clients[4].get(), &byte, 1), 0) << "told by the end of the connection";
  clients.erase(clients.begin());
  drain();
  const Fd late = connect();
  send(late, "{\"late\": 1}\n");
  drain();
  EXPECT_NE(sink_.find("late"), nullptr) << "there is room again";
}

TEST_F(HookServer, does_not_spin_when_no_descriptor_is_left) {
  start();
  // UBSan needs descriptors for its first look at an object, so all of them are used once before.
  const Fd early = connect();
  send(early, "{\"early\": 1}\nnot json\n\n");
  drain();
  ASSERT_EQ(sink_.losses().size(), 1U);
  const Fd client = connect();
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  const rlimit none{static_cast<rlim_t>(client.get()) + 1, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  drain();
  EXPECT_EQ(lost("no file descriptor left for a client"), 1U);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  const Fd late = connect();
  send(late, "{\"late\": 1}\n");
  drain();
  EXPECT_NE(sink_.find("late"), nullptr);
}

TEST_F(HookServer, bounds_the_names) {
  Limits limits;
  limits.names = 10;
  start(limits);
  const Fd client = connect();
  for (int i = 0; i < 30; ++i) send(client, "{\"n" + std::to_string(i) + "\": 1}\n");
  drain();
  EXPECT_EQ(server_->latest().size(), 10U);
  EXPECT_EQ(lost("too many different names"), 20U);
}

}  // namespace
}  // namespace assay::hooks
