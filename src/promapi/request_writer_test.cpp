// SPDX-License-Identifier: Apache-2.0
#include "testing/allocations.h"
#include "testing/example.h"
#include "testing/read_request.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

#include <assay/promapi/exposition.h>
#include <assay/promapi/request_writer.h>
#include <gtest/gtest.h>

namespace assay::promapi {
namespace {

using namespace std::chrono_literals;
using testing::bits;
using testing::ReadSeries;

constexpr int64_t kStartMs = 1'700'000'000'000;
constexpr Timestamp kStart = from_unix_ns(kStartMs * 1'000'000);
constexpr uint64_t kStale = 0x7ff0000000000002;

class RequestWriterTest : public ::testing::Test {
 protected:
  /// A pass with the gauge "fps" of each app, whose value is 1; gives what was written.
  std::vector<ReadSeries> pass(Timestamp time, const std::vector<std::string>& apps) {
    requests_.clear();
    writer_.start(time);
    writer_.family("fps", FamilyKind::gauge, "Frames a second.");
    for (const auto& app : apps) writer_.sample({{"app", app}}, 1);
    writer_.finish();
    return written();
  }
  std::vector<ReadSeries> written() const {
    std::vector<ReadSeries> all;
    for (const auto& request : requests_) {
      const auto series = testing::read_request(request);
      all.insert(all.end(), series.begin(), series.end());
    }
    return all;
  }
  static ReadSeries fps_of(const std::string& app, int64_t ms, uint64_t value = bits(1)) {
    return {{{"__name__", "fps"}, {"app", app}}, {{ms, value}}};
  }

  std::vector<std::string> requests_;
  RequestWriter writer_{
      {}, [this](std::string_view request, uint32_t) { requests_.emplace_back(request); }};
};

using Samples = std::map<std::vector<std::pair<std::string, std::string>>, double>;

Samples samples_of(const std::vector<ReadSeries>& all) {
  Samples found;
  for (const auto& series : all)
    found[series.labels] = std::bit_cast<double>(series.samples.front().second);
  return found;
}

TEST_F(RequestWriterTest, HasTheSamplesOfAScrapeWithSortedLabels) {
  writer_.start(kStart);
  testing::write_families(writer_);
  writer_.finish();
  const Samples found = samples_of(written());
  const auto value_of = [&](const std::vector<std::pair<std::string, std::string>>& labels) {
    const auto at = found.find(labels);
    return at == found.end() ? -1 : at->second;
  };
  EXPECT_EQ(value_of({{"__name__", "container_cpu_usage_seconds_total"},
                      {"id", "/docker/1f"},
                      {"name", "objcounter"}}),
            12.75);
  EXPECT_EQ(value_of({{"__name__", "container_cpu_usage_seconds_total"},
                      {"cpu", "cpu\\0"},
                      {"image", std::string(testing::kAwkward)}}),
            3);
  EXPECT_EQ(value_of({{"__name__", "char_node_info"}, {"model", "Jetson"}}), 1);
  EXPECT_EQ(value_of({{"__name__", "assay_app_latency_seconds_bucket"},
                      {"id", "/docker/1f"},
                      {"le", "1.0"},
                      {"name", "objcounter"}}),
            4);
  EXPECT_EQ(value_of({{"__name__", "assay_app_latency_seconds_count"},
                      {"id", "/docker/1f"},
                      {"name", "objcounter"}}),
            6);
  Exposition scrape;
  const std::string_view text = testing::write_example(scrape, TextFormat::classic);
  const auto lines = std::count(text.begin(), text.end(), '\n');
  size_t heads = 0;
  for (size_t at = text.find("# "); at != text.npos; at = text.find("\n# ", at + 1)) ++heads;
  EXPECT_EQ(found.size(), static_cast<size_t>(lines) - heads);
}

TEST_F(RequestWriterTest, ExternalLabelsGiveWayToTheSeriesOwn) {
  const std::vector<Label> external{{"instance", "node-1"}, {"app", "none"}, {"bad name", "x"}};
  RequestWriter writer(
      external, [this](std::string_view request, uint32_t) { requests_.emplace_back(request); });
  writer.start(kStart);
  writer.family("fps", FamilyKind::gauge, "");
  writer.sample({{"app", "a"}}, Label{"zone", "north"}, 1);
  writer.finish();
  const std::vector<ReadSeries> expected{{{{"__name__", "fps"},
                                           {"app", "a"},
                                           {"bad_name", "x"},
                                           {"instance", "node-1"},
                                           {"zone", "north"}},
                                          {{kStartMs, bits(1)}}}};
  EXPECT_EQ(written(), expected);
}

TEST_F(RequestWriterTest, ASeriesThatHasGoneGetsOneStaleMarker) {
  EXPECT_EQ(pass(kStart, {"a", "b"}).size(), 2U);
  const std::vector<ReadSeries> ended{fps_of("a", kStartMs + 15'000),
                                      fps_of("b", kStartMs + 15'000, kStale)};
  EXPECT_EQ(pass(kStart + 15s, {"a"}), ended);
  EXPECT_EQ(pass(kStart + 30s, {"a"}).size(), 1U) << "told already";
  EXPECT_EQ(pass(kStart + 45s, {"a", "b"}).size(), 2U) << "it is back";
  EXPECT_EQ(pass(kStart + 60s, {"a"}).back(), fps_of("b", kStartMs + 60'000, kStale));
}

TEST_F(RequestWriterTest, ASeriesThatHasGoneIsForgottenAfterAWhile) {
  pass(kStart, {"a", "b"});
  auto time = kStart;
  for (int i = 0; i < 20; ++i) pass(time += 15s, {"a"});
  EXPECT_EQ(writer_.series(), 2U);
  pass(time += 15s, {"a"});
  EXPECT_EQ(writer_.series(), 1U);
}

TEST_F(RequestWriterTest, ATimeThatHasNotMovedOnIsNotSentButCounted) {
  pass(kStart, {"a"});
  EXPECT_TRUE(pass(kStart - 1h, {"a"}).empty());
  EXPECT_TRUE(pass(kStart + 900us, {"a"}).empty()) << "the same millisecond";
  EXPECT_EQ(writer_.late_samples(), 2U);
  const std::vector<ReadSeries> only_new{fps_of("new", kStartMs - 1000)};
  EXPECT_EQ(pass(kStart - 1s, {"a", "new"}), only_new) << "a new series has no time to keep";
  EXPECT_EQ(writer_.late_samples(), 3U);
  EXPECT_EQ(pass(kStart + 1ms, {"a", "new"}).size(), 2U);
}

TEST_F(RequestWriterTest, AnEndWhileTheTimeIsSetBackIsToldOnceItHasMovedOn) {
  pass(kStart, {"a"});
  EXPECT_TRUE(pass(kStart - 1h, {}).empty());
  const std::vector<ReadSeries> ended{fps_of("a", kStartMs + 1000, kStale)};
  EXPECT_EQ(pass(kStart + 1s, {}), ended);
  EXPECT_TRUE(pass(kStart + 2s, {}).empty());
}

TEST_F(RequestWriterTest, AForwardJumpIsSentAndAStepBackByDaysIsBelieved) {
  pass(kStart, {"a"});
  const std::vector<ReadSeries> later{fps_of("a", kStartMs + 3'600'000)};
  EXPECT_EQ(pass(kStart + 1h, {"a"}), later);
  const std::vector<ReadSeries> years_on{fps_of("a", kStartMs + 86'400'000'000)};
  EXPECT_EQ(pass(kStart + 24'000h, {"a"}), years_on) << "a board whose clock was wrong";
  const std::vector<ReadSeries> mended{fps_of("a", kStartMs + 3'601'000)};
  EXPECT_EQ(pass(kStart + 1h + 1s, {"a"}), mended);
  EXPECT_EQ(writer_.late_samples(), 0U);
}

TEST_F(RequestWriterTest, WhatComesTwiceInAPassIsSentOnce) {
  EXPECT_EQ(pass(kStart, {"a", "a"}).size(), 1U);
  EXPECT_EQ(writer_.late_samples(), 1U);
}

TEST_F(RequestWriterTest, CountersThatAreNoCountAreLeftOut) {
  writer_.start(kStart);
  writer_.family("x_total", FamilyKind::counter, "");
  writer_.sample({}, -1);
  writer_.finish();
  EXPECT_TRUE(requests_.empty());
}

TEST_F(RequestWriterTest, ManySamplesBecomeSeveralRequests) {
  constexpr size_t kApps = 2 * WriteRequest::kManySamples + 1;
  std::vector<std::string> apps;
  for (size_t i = 0; i < kApps; ++i) apps.push_back(fmt::format("app-{}", i));
  EXPECT_EQ(pass(kStart, apps).size(), kApps);
  EXPECT_EQ(requests_.size(), 3U);
  EXPECT_EQ(testing::read_request(requests_.front()).size(), WriteRequest::kManySamples);
}

/// Allocations of the third of three passes with so many series, which fill one request.
size_t allocations_of_a_pass(size_t series) {
  std::vector<LabelText> labels;
  for (size_t i = 0; i < series; ++i) labels.push_back({{"app", fmt::format("a \"{}\"", i)}});
  RequestWriter writer({}, [](std::string_view, uint32_t) {});
  size_t before = 0;
  for (int pass = 0; pass < 3; ++pass) {
    before = testing::allocations();
    writer.start(kStart + pass * 15s);
    writer.family("a_name_that_is_too_long_for_a_string_without_memory", FamilyKind::gauge, "");
    for (const auto& one : labels) writer.sample(one, {"extra", "x"}, 1);
    writer.finish();
  }
  return testing::allocations() - before;
}

TEST(RequestWriter, AllocatesNothingForASampleOfAKnownSeries) {
  EXPECT_EQ(allocations_of_a_pass(WriteRequest::kManySamples), allocations_of_a_pass(10));
}

}  // namespace
}  // namespace assay::promapi
