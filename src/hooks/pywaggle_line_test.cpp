// SPDX-License-Identifier: Apache-2.0
#include "pywaggle_line.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace assay::hooks {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Timestamp kNow = from_unix_ns(1'661'261'230'562'104'007);  // 2022-08-23T13:27:10 UTC

TEST(PywaggleTime, is_read_to_the_nanosecond) {
  EXPECT_EQ(parse_pywaggle_time("2022-08-23T13:27:10.562104007"), kNow);
  EXPECT_EQ(parse_pywaggle_time("1970-01-01T00:00:01.000001002"), from_unix_ns(1'000'001'002));
}

TEST(PywaggleTime, has_no_dot_when_the_microseconds_are_zero) {
  EXPECT_EQ(parse_pywaggle_time("1970-01-01T00:00:01002"), from_unix_ns(1'000'000'002));
}

TEST(PywaggleTime, is_nothing_else) {
  for (const char* text :
       {"", "2022", "2022-08-23T13:27:10", "2022-08-23 13:27:10.562104007",
        "2022-13-23T13:27:10000", "2022-02-30T13:27:10000", "2022-08-23T24:27:10000",
        "2022-08-23T13:60:10000", "2022-08-23T13:27:10.56210400", "2022-08-23T13:27:10.5621040000",
        "0001-01-01T00:00:00000", "9999-01-01T00:00:00000", "2022-08-23T13:27:-1000",
        "2022-08-23T13:27:10.562104007Z"}) {
    EXPECT_FALSE(parse_pywaggle_time(text)) << text;
  }
}

TEST(PlainZone, is_found_from_the_first_message) {
  for (const auto zone : {minutes(0), minutes(60), minutes(-300), minutes(345), minutes(840)}) {
    PlainZone plain;
    EXPECT_EQ(plain.to_wall(kNow + zone - seconds(2), kNow), kNow - seconds(2)) << zone.count();
    EXPECT_EQ(plain.to_wall(kNow + zone - minutes(20), kNow), kNow - minutes(20))
        << "a later message may be older";
  }
}

TEST(PlainZone, follows_a_change_to_summer_time) {
  PlainZone plain;
  plain.to_wall(kNow + hours(1), kNow);
  EXPECT_EQ(plain.to_wall(kNow + hours(2), kNow), kNow);
}

TEST(PlainZone, is_not_learned_from_a_time_of_another_day) {
  PlainZone plain;
  EXPECT_EQ(plain.to_wall(kNow - hours(48), kNow), kNow - hours(48));
  EXPECT_EQ(plain.to_wall(kNow - minutes(1), kNow), kNow - minutes(1));
}

class Line : public ::testing::Test {
 protected:
  std::optional<Published> parse(const std::string& line) {
    return parse_pywaggle_line(line, losses_);
  }
  bool is_timer(const std::string& name, const std::string& value = "1000",
                const std::string& meta = "{}") {
    return parse(R"({"meta":)" + meta + R"(,"name":")" + name + R"(","value":)" + value + "}")
        ->timer;
  }
  Losses losses_;
};

TEST_F(Line, is_a_message_as_pywaggle_writes_it) {
  const auto message = parse(
      R"({"meta":{"sensor":"bme280"},"name":"env.temperature","timestamp":"2022-08-23T13:27:10.562104007","value":23.5})");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->name, "env.temperature");
  EXPECT_EQ(message->value, 23.5);
  EXPECT_FALSE(message->text);
  EXPECT_FALSE(message->timer);
  EXPECT_EQ(message->local, kNow);
  EXPECT_FALSE(losses_.any());
}

TEST_F(Line, tells_timers_by_their_form) {
  EXPECT_TRUE(is_timer("plugin.duration.inference"));
  EXPECT_TRUE(is_timer("timeit.load"));
  EXPECT_TRUE(is_timer("inference_time_ns"));
  EXPECT_FALSE(is_timer("plugin.durations"));
  EXPECT_FALSE(is_timer("image.cats"));
  EXPECT_FALSE(is_timer("plugin.duration.inference", "1000.0")) << "timeit gives whole numbers";
  EXPECT_FALSE(is_timer("rain.duration", "3600", R"({"sensor":"rg15"})")) << "timeit gives no meta";
}

TEST_F(Line, may_hold_a_text_instead_of_a_number) {
  for (const char* value : {R"("cat")", "true", "null", "[1]"}) {
    EXPECT_TRUE(parse(R"({"name":"a","value":)" + std::string(value) + "}")->text) << value;
  }
  EXPECT_FALSE(losses_.any());
}

TEST_F(Line, is_counted_when_it_is_no_message) {
  EXPECT_FALSE(parse("garbage"));
  EXPECT_FALSE(parse("[1,2]"));
  EXPECT_FALSE(parse(std::string(60'000, '[')));
  EXPECT_EQ(losses_.count(Trouble::not_json), 3U);
  EXPECT_FALSE(parse(R"({"meta":{},"name":"a","value":NaN})"));
  EXPECT_FALSE(parse(R"({"meta":{},"name":"a","value":-Infinity})"));
  EXPECT_EQ(losses_.count(Trouble::out_of_range), 2U);
  EXPECT_FALSE(parse(R"({"name":"a"})"));
  EXPECT_EQ(losses_.count(Trouble::no_value), 1U);
  EXPECT_FALSE(parse(R"({"value":1})"));
  EXPECT_FALSE(parse(R"({"name":1,"value":1})"));
  EXPECT_FALSE(parse(R"({"name":")" + std::string(129, 'x') + R"(","value":1})"));
  EXPECT_EQ(losses_.count(Trouble::bad_name), 3U);
}

TEST(LineCutter, gives_the_same_however_the_bytes_are_cut) {
  const std::string text = "one\n\n  \ntoo long for us\ntwo\nbegun";
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    LineCutter cutter(10);
    Losses losses;
    std::vector<std::string> lines;
    for (size_t i = 0; i < text.size(); i += piece) {
      cutter.feed(std::string_view(text).substr(i, piece), losses,
                  [&](std::string_view line) { lines.emplace_back(line); });
    }
    cutter.cut_off(losses);
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"})) << piece;
    EXPECT_EQ(losses.count(Trouble::too_long), 1U) << piece;
    EXPECT_EQ(losses.count(Trouble::cut_off), 1U) << piece;
  }
}

}  // namespace
}  // namespace assay::hooks
