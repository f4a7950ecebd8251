// SPDX-License-Identifier: Apache-2.0
#include "testing/prometheus.h"
#include "testing/temp_folder.h"
#include "testing/wait.h"

#include <chrono>
#include <fmt/format.h>
#include <string>
#include <vector>

#include <assay/promapi/remote_write.h>
#include <gtest/gtest.h>

namespace assay::promapi {
namespace {

using namespace std::chrono_literals;
using testing::comes_true;

/// Two series of which a record has a sample each, ten records a second.
class RealPrometheus : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = DiskQueue::open(folder_.path() / "queue");
    ASSERT_TRUE(opened) << opened.error().message;
    queue_ = std::move(*opened);
    ASSERT_TRUE(prometheus_.start());
    start_sender();
  }
  void start_sender() {
    auto sender = RemoteWriteSender::start(
        {.url = prometheus_.base() + "/api/v1/write", .first_wait = 50ms, .longest_wait = 200ms},
        *queue_, clock_, [](const std::string&) {});
    ASSERT_TRUE(sender) << sender.error().message;
    sender_ = std::move(*sender);
  }
  Timestamp time_of(int i) const { return begin_ + i * 100ms; }
  void push(int count) {
    for (int i = 0; i < count; ++i, ++pushed_) {
      request_.start();
      request_.add(fps_, time_of(pushed_), pushed_);
      request_.add(awkward_, time_of(pushed_), pushed_ * 0.5);
      ASSERT_TRUE(queue_->push(request_.finish(), static_cast<uint32_t>(request_.samples())));
    }
  }
  ::testing::AssertionResult all_is_sent() {
    return comes_true([&] { return queue_->counts().queued_records == 0; });
  }
  /// Value and time of each sample of a series, in the order that Prometheus has them.
  std::vector<std::string> stored(const std::string& series) const {
    const auto result = prometheus_.query(series + "[1h]");
    std::vector<std::string> samples;
    if (result.size() != 1) return {fmt::format("{} series", result.size())};
    for (const auto& sample : result[0]["values"])
      samples.push_back(
          fmt::format("{:.3f} {}", sample[0].get<double>(), sample[1].get<std::string>()));
    return samples;
  }
  std::vector<std::string> expected(double factor) const {
    std::vector<std::string> samples;
    samples.reserve(pushed_);
    for (int i = 0; i < pushed_; ++i)
      samples.push_back(
          fmt::format("{:.3f} {}", seconds(time_of(i).time_since_epoch()), i * factor));
    return samples;
  }

  testing::TempFolder folder_;
  SystemClock clock_;
  testing::Prometheus prometheus_{folder_.path()};
  std::unique_ptr<DiskQueue> queue_;
  std::unique_ptr<RemoteWriteSender> sender_;
  WriteRequest request_;
  // In whole milliseconds, and all of it past.
  const Timestamp begin_ = std::chrono::floor<Milliseconds>(clock_.now()) - 5min;
  const SeriesLabels fps_{"assay_app_fps", {{"app", "objcounter"}, {"pod", "p-1"}}};
  const SeriesLabels awkward_{"app.latency", {{"io.app", "a\"b\\c\nd é"}, {"bad", "\xFF"}}};
  int pushed_ = 0;
};

TEST_F(RealPrometheus, MissesNothingThatWasWrittenWhileItWasGone) {
  push(50);
  ASSERT_TRUE(all_is_sent());
  prometheus_.kill();
  push(50);
  ASSERT_TRUE(comes_true([&] { return sender_->status().retries >= 10; }));
  EXPECT_EQ(queue_->counts().queued_records, 50U);
  ASSERT_TRUE(prometheus_.start());
  push(50);
  ASSERT_TRUE(all_is_sent());
  EXPECT_EQ(stored("assay_app_fps{app=\"objcounter\",pod=\"p-1\"}"), expected(1));
  EXPECT_EQ(stored("app_latency{io_app=\"a\\\"b\\\\c\\nd é\",bad=\"?\"}"), expected(0.5));
  EXPECT_EQ(sender_->status().dropped_samples, 0U);
  EXPECT_EQ(sender_->status().sent_samples, 300U);
}

TEST_F(RealPrometheus, TakesWhatASenderThatEndedLeftOnDisk) {
  push(5);
  ASSERT_TRUE(all_is_sent());
  prometheus_.kill();
  push(5);
  ASSERT_TRUE(comes_true([&] { return sender_->status().retries >= 1; }));
  sender_.reset();
  queue_.reset();
  queue_ = DiskQueue::open(folder_.path() / "queue").value_or(nullptr);
  ASSERT_TRUE(queue_);
  ASSERT_TRUE(prometheus_.start());
  start_sender();
  push(5);
  ASSERT_TRUE(all_is_sent());
  EXPECT_EQ(stored("assay_app_fps"), expected(1));
}

TEST_F(RealPrometheus, UnderstandsThatASeriesHasEnded) {
  push(2);
  request_.start();
  request_.add(fps_, clock_.now() - 1s, 7);
  ASSERT_TRUE(queue_->push(request_.finish(), 1));
  ASSERT_TRUE(all_is_sent());
  EXPECT_EQ(prometheus_.query("assay_app_fps").size(), 1U);
  request_.start();
  request_.add(fps_, clock_.now(), stale_marker());
  ASSERT_TRUE(queue_->push(request_.finish(), 1));
  ASSERT_TRUE(all_is_sent());
  EXPECT_EQ(prometheus_.query("assay_app_fps").size(), 0U);
}

TEST_F(RealPrometheus, RefusesWhatIsOutOfOrderAndTakesTheRest) {
  push(10);
  ASSERT_TRUE(all_is_sent());
  request_.start();
  request_.add(fps_, time_of(3), 99);
  ASSERT_TRUE(queue_->push(request_.finish(), 1));
  push(5);
  ASSERT_TRUE(all_is_sent());
  EXPECT_EQ(sender_->status().dropped_samples, 1U);
  EXPECT_EQ(stored("assay_app_fps"), expected(1));
}

}  // namespace
}  // namespace assay::promapi
