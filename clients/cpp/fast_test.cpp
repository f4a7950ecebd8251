// SPDX-License-Identifier: Apache-2.0
// The header against the profiler's own server, through shared memory.
#include "assay.hpp"
#include "testing/reports.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>

#include <assay/hooks/server.h>
#include <gtest/gtest.h>

namespace assay::client {
namespace {
namespace fs = std::filesystem;

class FastClient : public testing::Test {
 public:
  FastClient() {
    std::string pattern = fs::temp_directory_path() / "assay-client-XXXXXX";
    dir_ = mkdtemp(pattern.data());
    path_ = dir_ / "s";
  }
  ~FastClient() override {
    server_.reset();
    fs::remove_all(dir_);
  }

 protected:
  void start() { server_ = std::move(*hooks::listen(path_, clock_, reports_)); }
  /// For a run, which wants every value.
  void start_run() { server_ = std::move(*hooks::listen(path_, clock_, series_)); }
  bool asked() const {
    pollfd waiting{server_->fd(), POLLIN, 0};
    return ::poll(&waiting, 1, 0) == 1;
  }
  void drain() {
    do server_->poll();
    while (asked());
  }
  /// The first value asks for shared memory, the second finds it.
  void meet(LiveMetrics& metrics) {
    metrics.push("hello", 1);
    drain();
    metrics.push("hello", 2);
    drain();
  }
  hooks::Reports::Told& caller(size_t index = 0) { return reports_.callers.at(index); }
  std::vector<double> values(const char* name) {
    const auto* report = caller().find(name);
    return report == nullptr ? std::vector<double>() : report->values;
  }

  fs::path dir_;
  std::string path_;
  SystemClock clock_;
  hooks::Reports reports_;
  MemorySeries series_;
  std::unique_ptr<hooks::Server> server_;
};

TEST_F(FastClient, is_told_apart_by_process_and_name) {
  start();
  ::setenv("ASSAY_APP", "birds", 1);
  LiveMetrics metrics(path_.c_str());
  meet(metrics);
  ::unsetenv("ASSAY_APP");
  metrics.close();
  drain();
  EXPECT_EQ(caller().caller.pid, ::getpid());
  EXPECT_GT(caller().caller.start_ticks, 0U);
  EXPECT_EQ(caller().app, "birds");
  EXPECT_TRUE(caller().gone);
}

TEST_F(FastClient, gives_lines_to_a_profiler_that_never_answers) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  LiveMetrics metrics(path_.c_str());
  auto n = metrics.number_handle("n");
  for (int i = 0; i < 3; ++i) n.push(i);
  const int connection = ::accept(listener, nullptr, nullptr);
  std::string got(4096, '\0');
  got.resize(static_cast<size_t>(::read(connection, got.data(), got.size())));
  EXPECT_EQ(got.rfind("{}\n\n{\"n\": {\"value\": 0, ", 0), 0U) << got;
  EXPECT_NE(got.find("{\"n\": {\"value\": 2, "), std::string::npos) << got;
  EXPECT_EQ(metrics.dropped(), 0U);
  ::close(connection);
  ::close(listener);
}

TEST_F(FastClient, reports_every_kind_in_order) {
  start();
  LiveMetrics metrics(path_.c_str(), 1e-9);
  for (int i = 0; i < 3; ++i) metrics.push("objects", i);
  drain();
  for (int i = 3; i < 6; ++i) metrics.push("objects", i);
  metrics.counter("birds");
  metrics.counter("birds", 2);
  for (int i = 0; i < 3; ++i) metrics.rate("fps");
  metrics.push("delay", 5, "ms");
  drain();
  EXPECT_EQ(values("objects"), (std::vector<double>{0, 1, 2, 3, 4, 5})) << "lines, then events";
  EXPECT_EQ(values("birds"), (std::vector<double>{1, 3}));
  EXPECT_EQ(caller().find("birds")->info.kind, hooks::ReportKind::counter);
  EXPECT_EQ(values("fps").size(), 2U);
  EXPECT_EQ(caller().find("fps")->info.kind, hooks::ReportKind::rate);
  EXPECT_EQ(values("delay"), (std::vector<double>{0.005}));
  EXPECT_LT(seconds(clock_.now() - caller().find("birds")->times.at(1)), 30);
  EXPECT_EQ(metrics.dropped(), 0U);
  EXPECT_TRUE(caller().losses.empty());
}

TEST_F(FastClient, counts_timers_where_they_are_measured) {
  start();
  LiveMetrics metrics(path_.c_str());
  meet(metrics);
  auto latency = metrics.timer_handle("latency");
  latency.stop(TimerHandle::start() - 1'000'000);
  drain();
  for (int i = 1; i < 1000; ++i) latency.stop(TimerHandle::start() - 1'000'000);
  EXPECT_FALSE(asked()) << "nothing goes over the socket";
  { const auto timing = latency.time(); }
  { const auto timing = metrics.timer("latency"); }
  metrics.timed("latency", 5);
  drain();
  const auto* report = caller().find("latency");
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(report->info.kind, hooks::ReportKind::timer);
  EXPECT_EQ(report->info.unit, "seconds");
  EXPECT_TRUE(report->values.empty());
  EXPECT_EQ(report->durations.count(), 1003U);
  EXPECT_GE(report->durations.quantile(0.5), 0.00099);
  EXPECT_NEAR(report->durations.quantile(1), 5, 0.05);
  EXPECT_GT(report->durations.sum(), 6);
  latency.stop(TimerHandle::start());
  drain();
  EXPECT_EQ(report->durations.count(), 1004U) << "only what was added";
}

TEST_F(FastClient, reports_timers_without_a_histogram_as_events) {
  start();
  LiveMetrics metrics(path_.c_str());
  meet(metrics);
  for (size_t i = 0; i < shared::kHistograms + 3; ++i) metrics.timed(std::to_string(i).c_str(), 1);
  drain();
  const auto* last = caller().find(std::to_string(shared::kHistograms + 2));
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->durations.count(), 1U) << "which become a histogram there";
  EXPECT_TRUE(caller().losses.empty());
}

TEST_F(FastClient, gives_a_run_every_value_of_a_timer) {
  start_run();
  LiveMetrics metrics(path_.c_str());
  meet(metrics);
  auto latency = metrics.timer_handle("latency");
  auto objects = metrics.number_handle("objects");
  for (int i = 1; i <= 3; ++i) {
    latency.stop(TimerHandle::start() - i * int64_t{1'000'000'000});
    objects.push(i);
  }
  metrics.close();
  drain();
  ASSERT_NE(series_.find("latency"), nullptr);
  EXPECT_EQ(series_.find("latency")->info.unit, "seconds");
  ASSERT_EQ(series_.find("latency")->values.size(), 3U);
  EXPECT_GE(series_.find("latency")->values.at(2), 3);
  EXPECT_EQ(series_.find("objects")->values, (std::vector<double>{1, 2, 3}));
  EXPECT_TRUE(series_.losses().empty());
}

TEST_F(FastClient, takes_no_time_for_less_than_none) {
  start_run();
  LiveMetrics metrics(path_.c_str());
  meet(metrics);
  auto latency = metrics.timer_handle("latency");
  for (int i = 0; i < 2; ++i) latency.stop(TimerHandle::start() + 1'000'000'000);
  metrics.close();
  drain();
  ASSERT_NE(series_.find("latency"), nullptr);
  EXPECT_EQ(series_.find("latency")->values, (std::vector<double>{0, 0}));
}

TEST_F(FastClient, asks_when_its_ring_is_half_full_and_drops_when_it_is_full) {
  start();
  LiveMetrics metrics(path_.c_str());
  meet(metrics);
  auto n = metrics.number_handle("n");
  n.push(0);
  drain();
  ASSERT_FALSE(asked());
  for (size_t i = 1; i < shared::kEvents / 2; ++i) n.push(static_cast<double>(i));
  EXPECT_FALSE(asked());
  for (size_t i = 0; i < shared::kEvents / 2; ++i) n.push(1);
  EXPECT_TRUE(asked());
  drain();
  const size_t before = values("n").size();
  EXPECT_EQ(before, shared::kEvents);
  for (size_t i = 0; i < shared::kEvents + 100; ++i) n.push(1);
  drain();
  EXPECT_EQ(values("n").size(), before + shared::kEvents);
  EXPECT_EQ(metrics.dropped(), 100U);
  EXPECT_EQ(caller().lost("ring was full"), 100U);
}

TEST_F(FastClient, drops_what_is_no_number) {
  start();
  LiveMetrics metrics(path_.c_str());
  meet(metrics);
  auto n = metrics.number_handle("n");
  n.push(1);
  n.push(std::numeric_limits<double>::quiet_NaN());
  metrics.push("n", std::numeric_limits<double>::infinity());
  auto nameless = metrics.number_handle("");
  nameless.push(1);
  drain();
  EXPECT_EQ(values("n"), std::vector<double>{1});
  EXPECT_EQ(metrics.dropped(), 3U);
  EXPECT_TRUE(caller().losses.empty());
}

TEST_F(FastClient, leaves_times_that_cannot_be_to_the_profiler) {
  start();
  LiveMetrics metrics(path_.c_str());
  meet(metrics);
  metrics.timed("t", 1);
  metrics.timed("t", -1);
  metrics.timed("t", 1e300);
  drain();
  EXPECT_EQ(caller().find("t")->durations.count(), 2U);
  EXPECT_EQ(caller().lost("value is NaN, infinite or out of range"), 1U);
}

TEST_F(FastClient, outlives_its_profiler_and_meets_the_next_one) {
  start();
  LiveMetrics metrics(path_.c_str());
  meet(metrics);
  auto latency = metrics.timer_handle("latency");
  latency.stop(TimerHandle::start());
  server_.reset();
  latency.stop(TimerHandle::start());  // into memory that nobody reads
  metrics.push("delay", 1, "ms");      // a line meets the end of the connection
  latency.stop(TimerHandle::start());
  EXPECT_EQ(metrics.dropped(), 2U);
  metrics.close();  // which also forgets when to try again
  start();
  meet(metrics);
  latency.stop(TimerHandle::start());
  drain();
  const auto* report = caller(1).find("latency");
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(report->durations.count(), 1U);
}

TEST_F(FastClient, forks_into_callers_of_their_own) {
  start();
  LiveMetrics metrics(path_.c_str());
  meet(metrics);
  auto latency = metrics.timer_handle("latency");
  auto objects = metrics.number_handle("objects");
  latency.stop(TimerHandle::start());
  objects.push(1);
  const pid_t child = ::fork();
  if (child == 0) {
    for (int i = 0; i < 3; ++i) latency.stop(TimerHandle::start());
    objects.push(2);
    metrics.close();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  metrics.close();
  drain();
  ASSERT_EQ(reports_.callers.size(), 2U);
  EXPECT_EQ(values("objects"), std::vector<double>{1});
  EXPECT_EQ(caller().find("latency")->durations.count(), 1U);
  EXPECT_EQ(caller(1).caller.pid, child);
  EXPECT_EQ(caller(1).find("objects")->values, std::vector<double>{2}) << "the same name";
  EXPECT_EQ(caller(1).find("latency")->durations.count(), 3U);
}

TEST_F(FastClient, loses_nothing_between_threads) {
  start();
  LiveMetrics metrics(path_.c_str());
  meet(metrics);
  auto latency = metrics.timer_handle("latency");
  auto n = metrics.number_handle("n");
  latency.stop(TimerHandle::start());
  n.push(0);
  {
    std::vector<std::jthread> threads;
    threads.reserve(12);  // more than lanes
    for (int t = 0; t < 12; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 2000; ++i) {
          latency.stop(TimerHandle::start());
          n.push(i);
        }
      });
    }
    for (int i = 0; i < 100; ++i) server_->poll();
  }
  drain();
  EXPECT_EQ(caller().find("latency")->durations.count(), 24'001U);
  EXPECT_EQ(values("n").size() + metrics.dropped(), 24'001U);
  EXPECT_EQ(caller().lost("shared memory makes no sense"), 0U);
}

TEST_F(FastClient, may_be_killed_at_any_moment) {
  start();
  LiveMetrics metrics(path_.c_str());
  const pid_t child = ::fork();
  if (child == 0) {
    auto n = metrics.number_handle("n");
    for (double i = 0;; ++i) n.push(i);
  }
  while (reports_.callers.empty() || values("n").size() < 50'000) server_->poll();
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  while (!caller().gone) server_->poll();
  const std::vector<double> all = values("n");
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_EQ(caller().lost("shared memory makes no sense"), 0U);
}

}  // namespace
}  // namespace assay::client
