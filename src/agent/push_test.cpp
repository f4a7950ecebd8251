// SPDX-License-Identifier: Apache-2.0
#include "push.h"

#include "remote_writer.h"
#include "testing/read_request.h"
#include "testing/receiver.h"
#include "testing/temp_folder.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <assay/promapi/exposition.h>
#include <gtest/gtest.h>

namespace assay::agent {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using promapi::FamilyKind;
using promapi::FamilyWriter;
using promapi::testing::bits;

constexpr int64_t kStartMs = 1'700'000'000'000;
constexpr uint64_t kStale = 0x7ff0000000000002;

/// Pushes on a clock that is moved by hand; what is queued is sent step by step.
class PushTest : public ::testing::Test {
 protected:
  PushTest() {
    settings_.queue = folder_.path() / "queue";
    settings_.url = receiver_.url();
  }

  void open() {
    writer_.reset();
    push_.reset();
    auto opened = Push::open(settings_, "node-1", clock_,
                             [this](const std::string& line) { told_.push_back(line); });
    ASSERT_TRUE(opened) << opened.error().message;
    push_ = std::move(*opened);
    writer_.emplace(
        promapi::RemoteWriteOptions{.url = settings_.url}, push_->queue(), clock_,
        [](const std::string&) {}, 1);
  }
  /// A pass in which each app tells how many there were.
  void pass(const std::vector<std::string>& apps = {"a", "b"}) {
    ++passes_;
    push_->pass([&](FamilyWriter& out) {
      out.family("passes", FamilyKind::gauge, "");
      for (const auto& app : apps) out.sample({{"app", app}}, passes_);
    });
  }
  /// Sends until nothing is queued or a wait is to be kept.
  void send() {
    while (writer_->step(stopper_) == Milliseconds(0)) continue;
  }
  /// What the receiver has taken of an app, in the order in which it came.
  std::vector<std::pair<int64_t, uint64_t>> samples_of(const std::string& app) const {
    std::vector<std::pair<int64_t, uint64_t>> all;
    for (const auto& request : receiver_.taken())
      for (const auto& series : promapi::testing::read_request(request))
        if (std::count(series.labels.begin(), series.labels.end(), std::pair("app"s, app)) > 0)
          all.insert(all.end(), series.samples.begin(), series.samples.end());
    return all;
  }
  std::string own() const {
    promapi::Exposition out;
    out.start(promapi::TextFormat::classic);
    push_->write_own(out);
    return std::string(out.finish());
  }

  promapi::testing::TempFolder folder_;
  promapi::testing::Receiver receiver_;
  ManualClock clock_{from_unix_ns(kStartMs * 1'000'000)};
  RemoteWrite settings_;
  std::vector<std::string> told_;
  std::unique_ptr<Push> push_;
  net::Stopper stopper_;
  std::optional<promapi::RemoteWriter> writer_;
  double passes_ = 0;
};

TEST_F(PushTest, each_series_has_the_labels_of_the_node) {
  settings_.labels = {{"site", "lake"}, {"job", "edge"}};
  open();
  pass({"a"});
  send();
  ASSERT_EQ(receiver_.taken().size(), 1U);
  const std::vector<promapi::testing::ReadSeries> expected{{{{"__name__", "passes"},
                                                             {"app", "a"},
                                                             {"instance", "node-1"},
                                                             {"job", "edge"},
                                                             {"site", "lake"}},
                                                            {{kStartMs, bits(1)}}}};
  EXPECT_EQ(promapi::testing::read_request(receiver_.taken().front()), expected);
}

TEST_F(PushTest, an_hour_without_prometheus_loses_nothing_and_keeps_the_order) {
  open();
  receiver_.answer("503 Service Unavailable");
  std::vector<std::pair<int64_t, uint64_t>> expected;
  for (int i = 0; i < 240; ++i) {
    pass();
    expected.emplace_back(kStartMs + i * 15'000, bits(i + 1));
    send();
    clock_.advance(15s);
  }
  EXPECT_TRUE(receiver_.taken().empty());
  EXPECT_GT(writer_->status().retries, 50U);
  receiver_.answer("204 No Content");
  clock_.advance(2min);
  send();
  EXPECT_EQ(samples_of("a"), expected);
  EXPECT_EQ(samples_of("b"), expected);
  EXPECT_EQ(push_->queue().counts().queued_samples, 0U);
}

TEST_F(PushTest, a_restart_goes_on_where_the_last_process_ended) {
  open();
  pass();
  clock_.advance(15s);
  pass();
  open();
  clock_.advance(15s);
  pass();
  send();
  const std::vector<std::pair<int64_t, uint64_t>> expected{
      {kStartMs, bits(1)}, {kStartMs + 15'000, bits(2)}, {kStartMs + 30'000, bits(3)}};
  EXPECT_EQ(samples_of("a"), expected);
}

TEST_F(PushTest, a_full_queue_drops_the_oldest_and_counts_them) {
  settings_.queue_size = 64U << 10U;
  open();
  std::vector<std::string> apps;
  for (int i = 0; i < 100; ++i) apps.push_back(fmt::format("app-{}-{}", i, i * 7919));
  constexpr int kPasses = 240;
  for (int i = 0; i < kPasses; ++i) {
    pass(apps);
    clock_.advance(15s);
  }
  send();
  const auto kept = samples_of(apps.front());
  const uint64_t lost = push_->queue().counts().lost_samples;
  EXPECT_GT(lost, 0U);
  EXPECT_EQ(kept.size() + lost / apps.size(), static_cast<size_t>(kPasses));
  for (size_t i = 0; i < kept.size(); ++i) {
    const auto number = static_cast<int64_t>(kPasses - kept.size() + i);
    EXPECT_EQ(kept[i],
              std::pair(kStartMs + number * 15'000, bits(static_cast<double>(number + 1))));
  }
  EXPECT_NE(own().find(fmt::format(R"(dropped_samples_total{{reason="queue_full"}} {})", lost)),
            std::string::npos)
      << own();
}

TEST_F(PushTest, a_clock_that_is_set_back_sends_nothing_older_and_counts_it) {
  open();
  pass({"a"});
  clock_.step(-1h);
  for (int i = 0; i < 3; ++i) {
    clock_.advance(15s);
    pass({"a"});
  }
  clock_.step(2h);
  pass({"a"});
  send();
  const std::vector<std::pair<int64_t, uint64_t>> expected{{kStartMs, bits(1)},
                                                           {kStartMs + 3'645'000, bits(5)}};
  EXPECT_EQ(samples_of("a"), expected) << "an hour on is sent too";
  EXPECT_NE(own().find(R"(dropped_samples_total{reason="clock"} 3)"), std::string::npos) << own();
}

TEST_F(PushTest, an_app_that_has_gone_gets_one_stale_marker) {
  open();
  pass();
  for (int i = 0; i < 3; ++i) {
    clock_.advance(15s);
    pass({"a"});
  }
  send();
  const std::vector<std::pair<int64_t, uint64_t>> expected{{kStartMs, bits(1)},
                                                           {kStartMs + 15'000, kStale}};
  EXPECT_EQ(samples_of("b"), expected);
}

TEST_F(PushTest, a_disk_that_takes_nothing_is_told_once_and_counted) {
  open();
  std::filesystem::remove_all(settings_.queue);
  pass({"a"});
  clock_.advance(15s);
  pass({"a"});
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_NE(told_.front().find(settings_.queue.native()), std::string::npos) << told_.front();
  EXPECT_NE(own().find(R"(dropped_samples_total{reason="disk"} 2)"), std::string::npos) << own();
  std::filesystem::create_directory(settings_.queue);
  clock_.advance(15s);
  pass({"a"});
  EXPECT_EQ(told_.back(), "remote write: the queue takes samples again");
}

TEST_F(PushTest, the_queue_is_in_the_state_folder_or_named) {
  settings_.queue.clear();
  ::unsetenv("STATE_DIRECTORY");
  const auto nowhere = queue_folder(settings_);
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().message.find("--queue"), std::string::npos);
  ::setenv("STATE_DIRECTORY", "/var/lib/assay:/var/lib/other", 1);
  EXPECT_EQ(queue_folder(settings_).value_or(""), "/var/lib/assay/remote-write");
  settings_.queue = "/q";
  EXPECT_EQ(queue_folder(settings_).value_or(""), "/q");
  ::unsetenv("STATE_DIRECTORY");
}

TEST_F(PushTest, what_cannot_work_is_refused) {
  settings_.interval = 0ms;
  EXPECT_FALSE(Push::open(settings_, "node-1", clock_, {}));
  settings_.interval = 1s;
  settings_.url = "prometheus:9090";
  open();
  const auto sending = push_->start_sending([](const std::string&) {});
  ASSERT_FALSE(sending);
  EXPECT_NE(sending.error().message.find("http://"), std::string::npos);
}

}  // namespace
}  // namespace assay::agent
