// SPDX-License-Identifier: Apache-2.0
// How fast apps can report and the server can take it, as one JSON object; or the other end for a
// client in another process, until standard input ends.
//   report_speed timers | ingest | serve SOCKET | swallow SOCKET
#include <algorithm>
#include <array>
#include <assay.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <assay/hooks/server.h>

namespace {

using namespace assay;
using client::LiveMetrics;

constexpr int kRounds = 15;

/// Counts and forgets.
class Counting final : public hooks::ReportSink {
 public:
  hooks::CallerId caller_connected(const hooks::Caller&) override { return {}; }
  void caller_named(hooks::CallerId, std::string_view) override {}
  void caller_gone(hooks::CallerId) override {}
  hooks::ReportId declare(hooks::CallerId, const hooks::ReportInfo&) override { return {}; }
  void value(hooks::CallerId, hooks::ReportId, Timestamp, double value) override {
    sum += value;
    ++values;
  }
  void durations(hooks::CallerId, hooks::ReportId, Timestamp,
                 const hooks::Histogram& added) override {
    counted += added.count();
  }
  void lost(std::optional<hooks::CallerId>, std::string_view, uint64_t count) override {
    losses += count;
  }
  double sum = 0;
  uint64_t values = 0;
  uint64_t counted = 0;
  uint64_t losses = 0;
};

/// A server with one client in this process that has got its shared memory.
struct Pair {
  Pair() {
    std::string pattern = std::filesystem::temp_directory_path() / "assay-bench-XXXXXX";
    folder = ::mkdtemp(pattern.data());
    server = std::move(*hooks::listen(folder / "s", clock, sink));
    metrics = std::make_unique<LiveMetrics>((folder / "s").c_str());
    metrics->push("first", 1);
    server->poll();
    metrics->push("first", 2);
  }
  ~Pair() {
    metrics.reset();
    server.reset();
    std::filesystem::remove_all(folder);
  }
  std::filesystem::path folder;
  SystemClock clock;
  Counting sink;
  std::unique_ptr<hooks::Server> server;
  std::unique_ptr<LiveMetrics> metrics;
};

int64_t now() {
  return client::detail::nanoseconds(CLOCK_MONOTONIC);
}

struct Cost {
  double least = 0;   ///< of short rounds, of which some are left alone by whoever shares the core
  double median = 0;  ///< with their share
};

/// Nanoseconds a call.
template <class F>
Cost cost(F call) {
  constexpr int kCalls = 1000;
  std::array<double, 1001> rounds{};
  for (double& round : rounds) {
    const int64_t began = now();
    for (int i = 0; i < kCalls; ++i) call();
    round = static_cast<double>(now() - began) / kCalls;
  }
  std::sort(rounds.begin(), rounds.end());
  return {rounds.front(), rounds[rounds.size() / 2]};
}

double calibration() {
  uint64_t x = 1;
  const double each = cost([&x] { x = x * 48271 % 2147483647; }).least;
  return x == 0 ? 0 : each;
}

/// Fewer than would make the client ask to be read, which is the server's turn.
double push_cost(Pair& pair) {
  constexpr int kPushes = 400;
  auto number = pair.metrics->number_handle("n");
  double least = 1e9;
  for (int round = 0; round < 1000; ++round) {
    const int64_t began = now();
    for (int i = 0; i < kPushes; ++i) number.push(1);
    least = std::min(least, static_cast<double>(now() - began) / kPushes);
    pair.server->poll();
  }
  return least;
}

int timers() {
  Pair pair;
  auto latency = pair.metrics->timer_handle("latency");
  const auto take = [&] { latency.stop(client::TimerHandle::start()); };
  take();
  pair.server->poll();
  const Cost handle = cost(take);
  const double text = cost([&] { const auto timing = pair.metrics->timer("latency"); }).median;
  const double push = push_cost(pair);
  const double clock = cost([] { static_cast<void>(client::detail::now_ns()); }).least;
  LiveMetrics nobody("/nonexistent/socket");
  auto absent = nobody.timer_handle("latency");
  const double without = cost([&] { absent.stop(client::TimerHandle::start()); }).median;
  double contended = 0;
  {
    std::atomic<int> turns{0};
    std::atomic<bool> done{false};
    const std::jthread other([&] {
      for (; !done; ++turns) take();
    });
    while (turns < 1000) {
    }
    // Until both have had a core of their own for a while.
    for (int i = 0; i < 10; ++i) contended = std::max(contended, cost(take).median);
    done = true;
  }
  pair.server->poll();
  std::printf(
      "{\"handle\": %.2f, \"median\": %.2f, \"name\": %.2f, \"without_profiler\": %.2f, "
      "\"contended\": %.2f, \"push\": %.2f, \"clock\": %.2f, \"calibration\": %.3f, \"counted\": "
      "%llu}\n",
      handle.least, handle.median, text, without, contended, push, clock, calibration(),
      static_cast<unsigned long long>(pair.sink.counted));
  return 0;
}

/// Only the server's turns are timed: one full lane in each.
int ingest() {
  Pair pair;
  auto number = pair.metrics->number_handle("n");
  number.push(0);
  pair.server->poll();
  std::array<double, kRounds> rates{};
  for (double& rate : rates) {
    int64_t spent = 0;
    const uint64_t before = pair.sink.values;
    for (int turn = 0; turn < 200; ++turn) {
      for (size_t i = 0; i < client::shared::kEvents; ++i) number.push(static_cast<double>(i));
      const int64_t began = now();
      pair.server->poll();
      spent += now() - began;
    }
    rate = static_cast<double>(pair.sink.values - before) * 1e9 / static_cast<double>(spent);
  }
  std::sort(rates.begin(), rates.end());
  std::printf(
      "{\"events_per_second\": %.0f, \"slowest\": %.0f, \"calibration\": %.3f, \"lost\": %llu}\n",
      rates[kRounds / 2], rates.front(), calibration(),
      static_cast<unsigned long long>(pair.sink.losses));
  return 0;
}

int serve(const char* path) {
  const SystemClock clock;
  Counting sink;
  const auto server = std::move(*hooks::listen(path, clock, sink));
  std::puts("ready");
  std::fflush(stdout);
  std::array<pollfd, 2> waiting = {{{STDIN_FILENO, POLLIN, 0}, {server->fd(), POLLIN, 0}}};
  do server->poll();
  while (::poll(waiting.data(), waiting.size(), 100) >= 0 && waiting[0].revents == 0);
  server->poll();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"counted\": %llu, \"values\": %llu, \"lost\": %llu, \"cpu_seconds\": %.6f}\n",
              static_cast<unsigned long long>(sink.counted),
              static_cast<unsigned long long>(sink.values),
              static_cast<unsigned long long>(sink.losses),
              static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                  static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6);
  return 0;
}

/// A profiler that knows no shared memory and reads whatever comes.
int swallow(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, 8) != 0) {
    std::perror("report_speed");
    return 1;
  }
  std::puts("ready");
  std::fflush(stdout);
  std::vector<pollfd> waiting = {{STDIN_FILENO, POLLIN, 0}, {listener, POLLIN, 0}};
  std::vector<char> buffer(1U << 20U);
  while (::poll(waiting.data(), waiting.size(), -1) > 0 && waiting[0].revents == 0) {
    if (waiting[1].revents != 0)
      waiting.push_back({::accept(listener, nullptr, nullptr), POLLIN, 0});
    for (size_t i = 2; i < waiting.size(); ++i) {
      if (waiting[i].revents == 0) continue;
      if (::read(waiting[i].fd, buffer.data(), buffer.size()) <= 0) waiting[i].fd = -1;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "timers") return timers();
  if (what == "ingest") return ingest();
  if (what == "serve" && argc > 2) return serve(argv[2]);
  if (what == "swallow" && argc > 2) return swallow(argv[2]);
  std::fputs("report_speed timers | ingest | serve SOCKET | swallow SOCKET\n", stderr);
  return 2;
}
