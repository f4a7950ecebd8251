// SPDX-License-Identifier: Apache-2.0
// Reading must not allocate once names are known. Counts every allocation of this test program.
#include "intake.h"
#include "message_parser.h"
#include "recorder.h"
#include "testing/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include <gtest/gtest.h>

namespace {
std::atomic<size_t> allocations{0};  // NOLINT: replacing operator new leaves no other place
}  // namespace

void* operator new(size_t size) {
  ++allocations;
  if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, size_t) noexcept {
  std::free(p);
}

namespace assay::hooks {

size_t allocations_so_far() {
  return allocations;
}

namespace {

constexpr Timestamp kNow = from_unix_ns(1'700'000'000'000'000'000);

class Forgetful final : public SampleSink {
 public:
  SeriesId declare(const SeriesInfo&) override { return SeriesId(declared++); }
  void sample(SeriesId, Timestamp, double) override { ++samples; }
  void lost(const Loss&) override {}
  uint32_t declared = 0;
  uint64_t samples = 0;
};

class ToRecorder final : public ReadingSink {
 public:
  explicit ToRecorder(Recorder& recorder) : recorder_(recorder) {}
  void take(const Reading& reading) override {
    recorder_.record(reading, caller_, {kNow, kNow}, losses);
  }
  Losses losses;

 private:
  Recorder& recorder_;
  Caller caller_{1, "reported by pid 1"};
};

TEST(SteadyState, allocates_nothing_for_known_names) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "{\"fps\": {\"value\": 12.345678901234567, \"timestamp\": 1700000000.123456}}\n\n";
    text +=
        "{\"a long name of a metric beyond small strings\": {\"kind\": \"timer\", \"value\": 1}}\n";
    text += "broken\n\n{\"fps\": NaN, \"other\": 3}\n";
  }
  Forgetful sink;
  Recorder recorder(sink, 10);
  ToRecorder readings(recorder);
  MessageParser parser(65536);
  Losses losses;
  const auto feed_in_pieces = [&] {
    for (size_t i = 0; i < text.size(); i += 1000) {
      parser.feed(std::string_view(text).substr(i, 1000), readings, losses);
    }
  };
  feed_in_pieces();
  const size_t before = allocations;
  feed_in_pieces();
  EXPECT_EQ(allocations - before, 0U);
  EXPECT_EQ(sink.samples, 600U);
  EXPECT_EQ(sink.declared, 3U);
}

class ForgetfulReports final : public ReportSink {
 public:
  CallerId caller_connected(const Caller&) override { return {}; }
  void caller_named(CallerId, std::string_view) override {}
  void caller_gone(CallerId) override {}
  ReportId declare(CallerId, const ReportInfo&) override { return ReportId(declared++); }
  void value(CallerId, ReportId, Timestamp, double) override { ++values; }
  void durations(CallerId, ReportId, Timestamp, const Histogram& added) override {
    durations_taken += added.count();
  }
  void lost(std::optional<CallerId>, std::string_view, uint64_t) override {}
  uint32_t declared = 0;
  uint64_t values = 0;
  uint64_t durations_taken = 0;
};

TEST(SteadyState, allocates_nothing_for_what_callers_report_again) {
  ForgetfulReports sink;
  const auto intakes = intakes_for(sink, Limits());
  Budget budget(1U << 20U);
  const auto intake = intakes->meet({1, "reported by pid 1"}, budget);
  Losses losses;
  const std::string long_name(100, 'n');
  intake->name_slot({"a number", 0, 0, {}, {}, Role::slot, 0}, losses);
  intake->name_slot({"a timer", 0, 0, {}, "timer", Role::slot, 1}, losses);
  const auto report = [&] {
    intake->take(Event{0, 1, 1.7e9}, {kNow, kNow}, losses);
    intake->take(Event{1, 0.5, 1.7e9}, {kNow, kNow}, losses);
    intake->take(Reading{long_name, 1, 1.7e9, {}, "counter"}, {kNow, kNow}, losses);
    intake->take(Reading{"a timer", 0.6, 1.7e9, {}, {}}, {kNow, kNow}, losses);
    intake->end_visit({kNow, kNow});
  };
  report();
  const size_t before = allocations;
  for (int i = 0; i < 100; ++i) report();
  EXPECT_EQ(allocations - before, 0U);
  EXPECT_EQ(sink.declared, 3U);
  EXPECT_EQ(sink.values, 202U);
  EXPECT_EQ(sink.durations_taken, 202U);
  EXPECT_EQ(losses.total(), 0U);
}

TEST(SteadyState, hostile_input_cannot_make_a_parser_grow) {
  Forgetful sink;
  Recorder recorder(sink, 10);
  ToRecorder readings(recorder);
  MessageParser parser(65536);
  Losses losses;
  const auto attack = [&](std::string_view head, std::string_view again) {
    parser.feed(head, readings, losses);
    std::string piece;
    while (piece.size() < 4000) piece += again;
    for (int i = 0; i < 12; ++i) parser.feed(piece, readings, losses);
    const size_t before = allocations;
    for (int i = 0; i < 2000; ++i) parser.feed(piece, readings, losses);
    parser.feed("\n\n", readings, losses);
    return allocations - before;
  };
  EXPECT_LE(attack("{\"a\": \"", "x"), 2U);
  EXPECT_LE(attack("{\"a\": ", "9"), 2U);
  EXPECT_LE(attack("{\"", "n"), 2U);
  EXPECT_LE(attack("{\"a\": [", "1,"), 2U);
  EXPECT_LE(attack("{", "\"a\":1,"), 40U) << "up to the bound of metrics in a message";
  EXPECT_LE(attack("", "{"), 2U);
  EXPECT_LE(attack("", "x"), 2U);
  EXPECT_LE(attack("", "\n"), 2U);
  EXPECT_GE(losses.count(Trouble::too_long), 5U);
}

}  // namespace
}  // namespace assay::hooks
