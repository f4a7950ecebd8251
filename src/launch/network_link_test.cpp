// SPDX-License-Identifier: Apache-2.0
// Links between real networks: each test has a machine of its own (a network namespace of its
// thread), an app in another, and a cable between them.
#include "network_link.h"

#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <functional>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <assay/base/files.h>
#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr const char* kMachine = "198.18.0.1";
constexpr const char* kApp = "198.18.0.2";
constexpr uint16_t kPort = 7777;
constexpr double kRate = 4e6;
// Of a full TCP segment with time stamps on Ethernet: what the kernel counts, and what arrives.
constexpr double kFrameBytes = 1514;
constexpr double kPayloadBytes = 1448;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool run(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

/// A process in a network of its own, or in that of its maker.
class AppProcess {
 public:
  explicit AppProcess(bool own_network) {
    int ready[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    const Fd reading(ready[0]);
    Fd writing(ready[1]);
    pid_ = ::fork();
    if (pid_ == 0) {
      if (own_network && ::unshare(CLONE_NEWNET) != 0) ::_exit(1);
      if (::write(writing.get(), "x", 1) != 1) ::_exit(1);
      while (true) ::pause();
    }
    writing.reset();
    char byte = 0;
    EXPECT_EQ(::read(reading.get(), &byte, 1), 1);
  }
  ~AppProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  AppProcess(const AppProcess&) = delete;
  AppProcess& operator=(const AppProcess&) = delete;
  pid_t pid() const { return pid_; }

  /// Runs something in its network.
  void inside(const std::function<void()>& body) const {
    std::thread([&] {
      const Fd network(::open(fmt::format("/proc/{}/ns/net", pid_).c_str(), O_RDONLY | O_CLOEXEC));
      ASSERT_EQ(::setns(network.get(), CLONE_NEWNET), 0);
      body();
    }).join();
  }

 private:
  pid_t pid_ = 0;
};

void connect_by_cable(const AppProcess& app) {
  ASSERT_TRUE(run(fmt::format("ip link add near type veth peer name eth0 netns {}", app.pid())));
  ASSERT_TRUE(run(fmt::format("ip addr add {}/30 dev near && ip link set near up", kMachine)));
  app.inside([] {
    ASSERT_TRUE(run(fmt::format("ip addr add {}/30 dev eth0 && ip link set eth0 up", kApp)));
  });
}

sockaddr_in address_of(const char* host) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  ::inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

Fd listen_at(const char* host) {
  Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = address_of(host);
  EXPECT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(listener.get(), 1), 0);
  return listener;
}

Fd connect_to(const char* host) {
  Fd connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = address_of(host);
  EXPECT_EQ(
      ::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return connection;
}

/// The rate at which bytes arrive, in bits per second on the link, without the first ones, which
/// may come faster.
double arrival_rate(int connection) {
  constexpr size_t kFirst = 100'000;
  std::string buffer(64U << 10U, '\0');
  size_t total = 0;
  size_t counted_from = 0;
  auto start = SteadyClock::now();
  auto last = start;
  while (true) {
    const ssize_t n = ::recv(connection, buffer.data(), buffer.size(), 0);
    if (n <= 0) break;
    last = SteadyClock::now();
    total += static_cast<size_t>(n);
    if (counted_from == 0 && total >= kFirst) {
      counted_from = total;
      start = last;
    }
  }
  const double time = std::chrono::duration<double>(last - start).count();
  return static_cast<double>(total - counted_from) * 8 / time * kFrameBytes / kPayloadBytes;
}

void send_bytes(int connection) {
  EXPECT_TRUE(write_all(connection, std::string(900'000, 'x')));
}

/// Runs the body in a thread with a network of its own: the test's machine.
void on_a_machine(const std::function<void()>& body) {
  std::thread([&] {
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
    ASSERT_TRUE(run("ip link set lo up"));
    body();
  }).join();
}

bool can_make_networks() {
  bool can = false;
  std::thread([&] { can = ::unshare(CLONE_NEWNET) == 0; }).join();
  return can;
}

/// What the `tc` command finds.
bool kernel_has_netem() {
  bool has_it = false;
  on_a_machine([&] { has_it = run("tc qdisc add dev lo root netem delay 1ms"); });
  return has_it;
}

class NetworkLink : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_make_networks()) GTEST_SKIP() << "only root may make networks";
  }
};

Link rate_link() {
  Link link;
  link.rate_bits_per_second = kRate;
  return link;
}

/// A busy machine may let some of it pass unused.
void expect_link_rate(double rate) {
  EXPECT_LT(rate, kRate * 1.1);
  EXPECT_GT(rate, kRate * 0.7);
}

TEST_F(NetworkLink, has_its_rate_for_what_the_app_sends) {
  on_a_machine([] {
    const AppProcess app(true);
    connect_by_cable(app);
    const auto left = apply_link(app.pid(), rate_link());
    ASSERT_TRUE(left) << left.error().message;
    EXPECT_TRUE(left->empty());
    const Fd listener = listen_at(kMachine);
    std::thread sender([&] { app.inside([] { send_bytes(connect_to(kMachine).get()); }); });
    const Fd connection(::accept(listener.get(), nullptr, nullptr));
    expect_link_rate(arrival_rate(connection.get()));
    sender.join();
  });
}

TEST_F(NetworkLink, has_its_rate_for_what_the_app_receives) {
  on_a_machine([] {
    const AppProcess app(true);
    connect_by_cable(app);
    const auto left = apply_link(app.pid(), rate_link());
    ASSERT_TRUE(left) << left.error().message;
    const Fd listener = listen_at(kMachine);
    double rate = 0;
    std::thread receiver(
        [&] { app.inside([&] { rate = arrival_rate(connect_to(kMachine).get()); }); });
    Fd connection(::accept(listener.get(), nullptr, nullptr));
    send_bytes(connection.get());
    connection.reset();
    receiver.join();
    expect_link_rate(rate);
  });
}

TEST_F(NetworkLink, can_be_set_again_and_changes_then) {
  on_a_machine([] {
    const AppProcess app(true);
    connect_by_cable(app);
    ASSERT_TRUE(apply_link(app.pid(), rate_link()));
    Link slower = rate_link();
    slower.rate_bits_per_second = 1e6;
    ASSERT_TRUE(apply_link(app.pid(), slower));
    app.inside([] { EXPECT_TRUE(run("tc qdisc show dev eth0 | grep 'tbf .*rate 1Mbit'")); });
    EXPECT_TRUE(run("tc qdisc show dev near | grep 'tbf .*rate 1Mbit'"));
  });
}

TEST_F(NetworkLink, whose_other_end_is_elsewhere_says_what_is_left_as_it_is) {
  on_a_machine([] {
    const AppProcess app(true);
    const AppProcess elsewhere(true);
    ASSERT_TRUE(run(fmt::format("ip link add far type veth peer name eth0 netns {}", app.pid())));
    ASSERT_TRUE(run(fmt::format("ip link set far netns {}", elsewhere.pid())));
    app.inside([] { ASSERT_TRUE(run("ip link set eth0 up")); });
    const auto left = apply_link(app.pid(), rate_link());
    ASSERT_TRUE(left) << left.error().message;
    ASSERT_EQ(left->size(), 1U);
    EXPECT_TRUE(has(left->front().why, "the other end of eth0 is not"));
    app.inside([] { EXPECT_TRUE(run("tc qdisc show dev eth0 | grep 'tbf .*rate 4Mbit'")); });
  });
}

TEST_F(NetworkLink, never_slows_down_the_cable_of_another_app) {
  on_a_machine([] {
    const AppProcess app(true);
    const AppProcess other(true);
    // Found first, and its far end has the same number as that of the app's cable.
    ASSERT_TRUE(
        run(fmt::format("ip link add beside type veth peer name eth0 netns {}", other.pid())));
    connect_by_cable(app);
    ASSERT_TRUE(apply_link(app.pid(), rate_link()));
    EXPECT_TRUE(run("tc qdisc show dev near | grep tbf"));
    EXPECT_FALSE(run("tc qdisc show dev beside | grep tbf"));
  });
}

TEST_F(NetworkLink, leaves_alone_the_machines_own_network) {
  on_a_machine([] {
    const AppProcess app(false);
    const auto left = apply_link(app.pid(), rate_link());
    ASSERT_FALSE(left);
    EXPECT_TRUE(has(left.error().message, "the app shares this machine's network"));
    EXPECT_FALSE(run("tc qdisc show | grep tbf"));
  });
}

TEST_F(NetworkLink, needs_a_network_and_an_app) {
  on_a_machine([] {
    const AppProcess app(true);
    const auto none = apply_link(app.pid(), rate_link());
    ASSERT_FALSE(none);
    EXPECT_TRUE(has(none.error().message, "the app has no network"));
    EXPECT_FALSE(apply_link(1 << 22, rate_link()));
    EXPECT_TRUE(apply_link(1 << 22, Link{}));
  });
}

TEST_F(NetworkLink, with_a_rate_can_be_had_where_tc_can_make_it) {
  on_a_machine([] {
    ASSERT_TRUE(run("tc qdisc add dev lo root tbf rate 4mbit burst 5000 latency 400ms"));
    EXPECT_TRUE(can_apply(rate_link()));
    EXPECT_TRUE(can_apply(Link{}));
  });
}

TEST_F(NetworkLink, with_a_delay_or_loss_says_what_a_kernel_without_netem_lacks) {
  if (kernel_has_netem()) GTEST_SKIP() << "this kernel has netem; see the next test";
  on_a_machine([] {
    const AppProcess app(true);
    connect_by_cable(app);
    Link delayed = rate_link();
    delayed.delay = Milliseconds(80);
    Link lossy;
    lossy.loss_ratio = 0.01;
    constexpr const char* kDelay =
        "this kernel cannot delay packets: it has no netem (module sch_netem)";
    EXPECT_TRUE(has(can_apply(delayed).error().message, kDelay));
    EXPECT_TRUE(has(apply_link(app.pid(), delayed).error().message, kDelay));
    EXPECT_TRUE(has(can_apply(lossy).error().message, "this kernel cannot lose packets"));
  });
}

TEST_F(NetworkLink, with_a_delay_has_its_round_trips_take_longer_and_keeps_its_rate) {
  if (!kernel_has_netem()) GTEST_SKIP() << "this kernel has no netem; see the test before";
  on_a_machine([] {
    const AppProcess app(true);
    connect_by_cable(app);
    Link link = rate_link();
    link.delay = Milliseconds(80);
    ASSERT_TRUE(can_apply(link));
    const auto left = apply_link(app.pid(), link);
    ASSERT_TRUE(left) << left.error().message;
    const Fd listener = listen_at(kMachine);
    double round_trip = 0;
    std::thread sender([&] {
      app.inside([&] {
        // The first one also asks for the address.
        connect_to(kMachine);
        const auto start = SteadyClock::now();
        const Fd connection = connect_to(kMachine);
        round_trip = std::chrono::duration<double>(SteadyClock::now() - start).count();
        send_bytes(connection.get());
      });
    });
    const Fd first(::accept(listener.get(), nullptr, nullptr));
    const Fd connection(::accept(listener.get(), nullptr, nullptr));
    expect_link_rate(arrival_rate(connection.get()));
    sender.join();
    EXPECT_GE(round_trip, 0.08);
    EXPECT_LT(round_trip, 0.16);
  });
}

TEST(NetworkLinkValues, out_of_reason_are_refused) {
  Link slow;
  slow.rate_bits_per_second = 2;
  Link late;
  late.delay = std::chrono::minutes(2);
  Link lossy;
  lossy.loss_ratio = 1.5;
  EXPECT_TRUE(has(can_apply(slow).error().message, "between 1kbit"));
  EXPECT_TRUE(has(can_apply(late).error().message, "at most 60s"));
  EXPECT_TRUE(has(can_apply(lossy).error().message, "between 0% and 100%"));
}

}  // namespace
}  // namespace assay::launch
