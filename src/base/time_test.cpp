// SPDX-License-Identifier: Apache-2.0
#include <assay/base/time.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

TEST(ParseDuration, takes_the_forms_people_write) {
  EXPECT_EQ(parse_duration("100ms").value(), Milliseconds(100));
  EXPECT_EQ(parse_duration("90").value(), std::chrono::seconds(90));
  EXPECT_EQ(parse_duration("1.5m").value(), std::chrono::seconds(90));
  EXPECT_EQ(parse_duration(" 2 h ").value(), hours(2));
  EXPECT_EQ(parse_duration("250us").value(), std::chrono::microseconds(250));
  EXPECT_EQ(parse_duration("0").value(), Nanoseconds(0));
  EXPECT_EQ(parse_duration("7", Milliseconds(1)).value(), Milliseconds(7));
}

TEST(ParseDuration, refuses_the_rest) {
  for (const auto* text : {"", "-1s", "ten", "1 fortnight", "1e300s", "nan", "1s2"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(FormatDuration, reads_well) {
  EXPECT_EQ(format_duration(Milliseconds(850)), "850 ms");
  EXPECT_EQ(format_duration(Milliseconds(12345)), "12.3 s");
  EXPECT_EQ(format_duration(minutes(4) + std::chrono::seconds(10)), "4 min 10 s");
  EXPECT_EQ(format_duration(hours(2) + minutes(5)), "2 h 5 min");
}

TEST(FormatUtc, is_iso_8601) {
  EXPECT_EQ(format_utc(from_unix_ns(1769860800123456789)), "2026-01-31T12:00:00.123Z");
}

TEST(SystemClock, agrees_with_the_wall_clock_and_never_steps_back) {
  const SystemClock clock;
  const auto wall = std::chrono::system_clock::now();
  EXPECT_LT(std::chrono::abs(clock.now() - wall), std::chrono::seconds(1));
  const auto first = clock.now();
  EXPECT_GE(clock.now(), first);
}

TEST(Clock, of_the_system_agrees_with_the_wall_while_nobody_sets_it) {
  const SystemClock clock;
  const Timestamp before = clock.wall();
  const Timestamp between = clock.now();
  const Timestamp after = clock.wall();
  EXPECT_GT(between - before, Milliseconds(-10));
  EXPECT_GT(after - between, Milliseconds(-10));
}

TEST(ParseUtc, reads_what_others_write) {
  const auto noon = from_unix_ns(1769860800123456789);
  EXPECT_EQ(parse_utc("2026-01-31T12:00:00.123456789Z"), noon);
  EXPECT_TRUE(parse_utc("2028-02-29T12:00:00Z"));
  EXPECT_FALSE(parse_utc("2026-02-29T12:00:00Z")) << "there is no such day";
  EXPECT_EQ(parse_utc("2026-01-31T13:30:00.123456789+01:30"), noon);
  EXPECT_EQ(parse_utc("2026-01-31T11:00:00.123456789-01:00"), noon);
  EXPECT_EQ(parse_utc("2026-01-31T12:00:00Z"), from_unix_ns(1769860800000000000));
  EXPECT_TRUE(parse_utc("2261-12-31T23:59:59-99:00"));
  for (const auto* wrong :
       {"", "0001-01-01T00:00:00Z", "1677-12-31T23:59:59Z", "2026-01-31", "2026-01-31T12:00:00",
        "2026-01-31T12:00:00.1", "2026-01-31 12:00:00Z", "2026-01-31T12:00:00+1",
        "2262-01-01T00:00:00Z", "9999-12-31T23:59:59Z"})
    EXPECT_EQ(parse_utc(wrong), std::nullopt) << wrong;
}

TEST(ParseUtc, reads_times_before_1970_where_they_are_asked_for) {
  EXPECT_EQ(parse_utc("1969-12-31T23:59:59Z"), std::nullopt);
  const auto old = [](const char* text) { return parse_utc(text, 1678); };
  EXPECT_EQ(old("1931-05-01T00:00:00Z"), from_unix_ns(-1220400000000000000));
  EXPECT_EQ(old("1969-12-31T23:59:59Z"), from_unix_ns(-1'000'000'000));
  EXPECT_EQ(old("1969-12-31T23:59:59.999999999Z"), from_unix_ns(-1));
  EXPECT_EQ(old("1970-01-01T00:30:00+01:00"), old("1969-12-31T23:30:00Z"));
  for (const auto* text : {"1678-01-01T00:00:00.000Z", "1900-02-28T23:59:59.999Z",
                           "1931-05-01T12:34:56.789Z", "1969-12-31T23:59:59.001Z"})
    EXPECT_EQ(format_utc(old(text).value()), text);
  EXPECT_TRUE(old("1678-01-01T00:00:00+99:00"));
  EXPECT_FALSE(old("1900-02-29T00:00:00Z")) << "there is no such day";
  EXPECT_FALSE(parse_utc("1677-12-31T23:59:59Z", 1)) << "it does not fit";
}

}  // namespace
}  // namespace assay
