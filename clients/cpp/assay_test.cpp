// SPDX-License-Identifier: Apache-2.0
// The header against the profiler's own server: what one end says, the other must hear.
#include "assay.hpp"

#include <csignal>
#include <cstdio>
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

constexpr uint64_t kSent = 20'000;

class CppClient : public testing::Test {
 public:
  CppClient() {
    std::string pattern = fs::temp_directory_path() / "assay-client-XXXXXX";
    dir_ = mkdtemp(pattern.data());
    path_ = dir_ / "s";
  }
  ~CppClient() override {
    server_.reset();
    fs::remove_all(dir_);
  }

 protected:
  void start() { server_ = std::move(*hooks::listen(path_, clock_, sink_)); }
  void drain() {
    pollfd waiting{server_->fd(), POLLIN, 0};
    while (::poll(&waiting, 1, 0) == 1) server_->poll();
  }
  std::vector<double> values(const char* name) const {
    const Series* series = sink_.find(name);
    return series == nullptr ? std::vector<double>() : series->values;
  }

  fs::path dir_;
  std::string path_;
  SystemClock clock_;
  MemorySeries sink_;
  std::unique_ptr<hooks::Server> server_;
};

TEST_F(CppClient, what_it_reports_arrives) {
  start();
  LiveMetrics metrics(path_.c_str());
  metrics.push("objects", 12);
  metrics.push("objects", -0.1);
  metrics.counter("birds");
  metrics.counter("birds", 2);
  metrics.start_timer("t");
  metrics.stop_timer("t");
  { const auto timing = metrics.timer("latency"); }
  metrics.close();
  drain();
  EXPECT_EQ(values("objects"), (std::vector<double>{12, -0.1})) << "to the last digit";
  EXPECT_EQ(values("birds"), (std::vector<double>{1, 3}));
  EXPECT_EQ(sink_.find("birds")->info.labels, (Labels{{"kind", "counter"}}));
  ASSERT_EQ(values("latency").size(), 1U);
  EXPECT_GE(values("latency").at(0), 0);
  EXPECT_EQ(sink_.find("t")->info.unit, "seconds");
  EXPECT_LT(seconds(clock_.now() - sink_.find("t")->times.at(0)), 30) << "its own time stamp";
  EXPECT_EQ(metrics.dropped(), 0U);
  EXPECT_TRUE(sink_.losses().empty());
}

TEST_F(CppClient, rates_are_averaged_over_their_window) {
  start();
  LiveMetrics metrics(path_.c_str(), 1e-9);
  for (int i = 0; i < 5; ++i) metrics.rate("each");
  LiveMetrics patient(path_.c_str(), 1e6);
  for (int i = 0; i < 5; ++i) patient.rate("whole");
  metrics.close();
  patient.close();
  drain();
  EXPECT_EQ(values("each").size(), 4U) << "one per distance";
  ASSERT_EQ(values("whole").size(), 1U) << "at the end, for want of a whole window";
  EXPECT_GT(values("whole").at(0), 0);
  EXPECT_EQ(sink_.find("whole")->info.unit, "per second");
}

TEST_F(CppClient, drops_and_counts_what_cannot_be_reported) {
  start();
  LiveMetrics metrics(path_.c_str());
  metrics.push("nan", std::numeric_limits<double>::quiet_NaN());
  metrics.push("inf", std::numeric_limits<double>::infinity());
  metrics.push("", 1);
  metrics.push(std::string(500, 'n').c_str(), 1);
  metrics.counter("c", std::numeric_limits<double>::infinity());
  metrics.stop_timer("never started");
  EXPECT_EQ(metrics.dropped(), 6U);
  metrics.push("quoted \"name\" \\", 1);
  metrics.close();
  drain();
  EXPECT_EQ(values("quoted \"name\" \\").size(), 1U);
  EXPECT_TRUE(sink_.losses().empty()) << "nothing that the profiler would have to refuse";
}

TEST_F(CppClient, tells_a_numbers_unit) {
  start();
  LiveMetrics metrics(path_.c_str());
  metrics.push("delay", 3, "ms");
  metrics.push("speed", 7, "\"km\"/h");
  metrics.close();
  drain();
  EXPECT_EQ(values("delay"), std::vector<double>{0.003});
  EXPECT_EQ(sink_.find("delay")->info.unit, "seconds");
  EXPECT_EQ(sink_.find("speed")->info.unit, "\"km\"/h");
}

TEST_F(CppClient, a_missing_profiler_is_no_trouble_and_is_found_later) {
  LiveMetrics metrics(path_.c_str());
  for (int i = 0; i < 10; ++i) metrics.push("a", i);
  EXPECT_EQ(metrics.dropped(), 10U);
  metrics.close();  // which also forgets when to try again
  start();
  metrics.push("a", 10);
  metrics.close();
  drain();
  EXPECT_EQ(values("a"), (std::vector<double>{10}));
}

TEST_F(CppClient, a_dying_profiler_is_no_trouble) {
  ASSERT_NE(std::signal(SIGPIPE, SIG_DFL), SIG_ERR);
  start();
  LiveMetrics metrics(path_.c_str());
  metrics.push("a", 1);
  server_.reset();
  for (int i = 0; i < 10; ++i) {
    metrics.push("a", i);
    metrics.flush();
  }
  EXPECT_EQ(metrics.dropped(), 10U);
}

TEST_F(CppClient, a_profiler_that_never_reads_costs_a_bounded_buffer) {
  start();
  LiveMetrics metrics(path_.c_str());
  for (uint64_t i = 0; i < kSent; ++i) metrics.push("a", static_cast<double>(i));
  EXPECT_GT(metrics.dropped(), 0U);
  for (int i = 0; i < 100; ++i) {
    drain();
    metrics.flush();
  }
  EXPECT_EQ(values("a").size() + metrics.dropped(), kSent) << "every value arrived or was counted";
  EXPECT_TRUE(sink_.losses().empty()) << "what a full socket cut was made whole";
}

TEST_F(CppClient, a_few_values_arrive_though_nothing_follows) {
  start();
  LiveMetrics metrics(path_.c_str());
  for (unsigned i = 0; i < detail::kSendsAtOnce; ++i) metrics.push("a", i);
  drain();
  EXPECT_EQ(values("a").size(), detail::kSendsAtOnce);
}

TEST_F(CppClient, keeps_a_bounded_number_of_names_and_timers) {
  start();
  LiveMetrics metrics(path_.c_str());
  for (size_t i = 0; i < detail::kMaxNames; ++i) metrics.push(std::to_string(i).c_str(), 1);
  EXPECT_EQ(metrics.dropped(), 0U);
  metrics.push("one more", 1);
  metrics.counter("and another");
  EXPECT_EQ(metrics.dropped(), 2U);
  for (size_t i = 0; i < detail::kMaxStarted; ++i) metrics.start_timer(std::to_string(i).c_str());
  EXPECT_EQ(metrics.dropped(), 2U);
  metrics.start_timer("one more");
  EXPECT_EQ(metrics.dropped(), 3U);
  metrics.push("0", 2);
  metrics.close();
  drain();
  EXPECT_EQ(values("0"), (std::vector<double>{1, 2})) << "what was known before goes on";
}

TEST_F(CppClient, many_threads_may_report) {
  start();
  LiveMetrics metrics(path_.c_str());
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 250; ++i) {
          metrics.start_timer("t");
          metrics.stop_timer("t");
        }
      });
    }
  }
  metrics.close();
  drain();
  EXPECT_EQ(values("t").size() + metrics.dropped(), 1000U);
  EXPECT_EQ(metrics.dropped(), 0U);
}

TEST_F(CppClient, a_forked_child_has_its_own_connection) {
  start();
  LiveMetrics metrics(path_.c_str());
  std::vector<double> sent(size_t{2} * detail::kSendsAtOnce);  // the later ones wait for company
  std::iota(sent.begin(), sent.end(), 0);
  for (const double value : sent) metrics.push("parent", value);
  const pid_t child = ::fork();
  if (child == 0) {
    metrics.push("child", 3);
    metrics.close();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  metrics.close();
  drain();
  EXPECT_EQ(values("parent"), sent);
  EXPECT_EQ(values("child"), (std::vector<double>{3}));
  EXPECT_NE(sink_.find("child")->info.source.find(std::to_string(child)), std::string::npos);
}

TEST(CppClientNumbers, have_a_point_in_every_locale) {
  for (const std::string point : {".", ",", "\u066b"}) {
    char text[64];
    std::snprintf(text, sizeof text, "-1%s5e-300", point.c_str());
    detail::use_decimal_point(text);
    EXPECT_STREQ(text, "-1.5e-300") << point;
  }
}

TEST_F(CppClient, reaches_paths_longer_than_an_address) {
  const fs::path deep = dir_ / std::string(120, 'x');
  fs::create_directories(deep);
  path_ = deep / "s";
  start();
  LiveMetrics metrics(path_.c_str());
  metrics.push("a", 1);
  drain();
  EXPECT_EQ(values("a").size(), 1U);
}

}  // namespace
}  // namespace assay::client
