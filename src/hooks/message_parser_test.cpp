// SPDX-License-Identifier: Apache-2.0
#include "message_parser.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace assay::hooks {
namespace {

struct Taken {
  std::string name;
  double value;
  std::string unit;
  std::string kind;
  bool operator==(const Taken&) const = default;
};

class Collected final : public ReadingSink {
 public:
  void take(const Reading& r) override {
    readings.push_back({std::string(r.name), r.value, std::string(r.unit), std::string(r.kind)});
    times.push_back(r.time);
    roles.emplace_back(r.role, r.index);
  }
  void greeted() override { ++greetings; }
  std::vector<Taken> readings;
  std::vector<double> times;
  std::vector<std::pair<Role, uint32_t>> roles;
  int greetings = 0;
};

class MessageParsing : public testing::Test {
 protected:
  void feed(std::string_view bytes) { parser_.feed(bytes, got_, losses_); }
  std::vector<std::pair<std::string, double>> values() const {
    std::vector<std::pair<std::string, double>> out;
    for (const Taken& t : got_.readings) out.emplace_back(t.name, t.value);
    return out;
  }
  uint64_t lost(Trouble trouble) const { return losses_.count(trouble); }

  static constexpr size_t kMessageBytes = 4096;
  MessageParser parser_{kMessageBytes};
  Collected got_;
  Losses losses_;
};

using Values = std::vector<std::pair<std::string, double>>;

TEST_F(MessageParsing, takes_the_form_that_existing_apps_send) {
  feed("{\"fps\": {\"value\": 12.5, \"timestamp\": 1700000000.1}}\n\n");
  EXPECT_EQ(values(), (Values{{"fps", 12.5}}));
  EXPECT_EQ(got_.times.at(0), 1700000000.1);
  EXPECT_EQ(losses_.total(), 0U);
}

TEST_F(MessageParsing, takes_what_is_told_without_a_value) {
  feed("{\"birds\": {\"kind\": \"app\"}}\n{\"n\": {\"kind\": \"counter\", \"slot\": 7}}\n");
  feed("{\"t\": {\"histogram\": 3, \"kind\": \"timer\"}}\n{\"v\": {\"slot\": 1, \"value\": 2}}\n");
  EXPECT_EQ(got_.roles,
            (std::vector<std::pair<Role, uint32_t>>{
                {Role::app, 0}, {Role::slot, 7}, {Role::histogram, 3}, {Role::value, 1}}));
  EXPECT_EQ(got_.readings.at(2).kind, "timer");
  EXPECT_EQ(losses_.total(), 0U);
  feed("{\"a\": {\"slot\": -1}}\n{\"b\": {\"slot\": 1e300}}\n{\"c\": {\"slot\": true}}\n");
  feed("{\"d\": {\"kind\": \"timer\"}}\n");
  EXPECT_EQ(got_.readings.size(), 4U);
  EXPECT_EQ(lost(Trouble::no_value), 4U);
}

TEST_F(MessageParsing, takes_an_empty_object_for_a_greeting) {
  feed("{}\n{ }\n\n{\"a\": 1}\n{\"a\": true}\n");
  EXPECT_EQ(got_.greetings, 2);
}

TEST_F(MessageParsing, takes_bare_numbers_several_metrics_and_one_object_a_line) {
  feed(
      "{\"fps\": 1}\n{\"a\":-2e3,\"b\":{\"value\":3}}\n{\"c\":4}{\"d\":5} {}\r\n\r\n{\n \"e\":\n "
      "6\n}");
  EXPECT_EQ(values(), (Values{{"fps", 1}, {"a", -2000}, {"b", 3}, {"c", 4}, {"d", 5}, {"e", 6}}));
  EXPECT_TRUE(std::isnan(got_.times.at(0))) << "no time was told";
  EXPECT_EQ(losses_.total(), 0U);
}

TEST_F(MessageParsing, takes_unit_and_kind_and_overlooks_the_rest) {
  feed(R"({"t": {"kind": "timer", "x": [1, {"value": 9}], "unit": "ms", "value": 2, "y": null}})");
  EXPECT_EQ(got_.readings, (std::vector<Taken>{{"t", 2, "ms", "timer"}}));
  feed(R"({"t": {"unit": 5, "kind": [], "value": 2}})");
  EXPECT_EQ(got_.readings.back(), (Taken{"t", 2, "", ""}));
  EXPECT_EQ(losses_.total(), 0U);
}

TEST_F(MessageParsing, does_not_depend_on_how_the_bytes_are_cut) {
  const std::string text =
      "{\"fps\": {\"value\": 12.5, \"timestamp\": 1700000000.1}}\n\nrubbish\n "
      "more\n\n{\"a\\u00e9\": "
      "1e999, \"b\": 2}\n{\"x\": tru, 1}\n{\"c\":\n{\"c\": 3}\n{\"d\": 4}\n{\"e\": \"f\ng\"}\n\n" +
      ("{\"long\": \"" + std::string(kMessageBytes, 'x') + "\"}\n\n{\"f\": 6}\n{\"cut");
  const auto run = [&](size_t piece) {
    MessageParser parser(kMessageBytes);
    Collected got;
    Losses losses;
    for (size_t i = 0; i < text.size(); i += piece) {
      // A copy of its own, so that a sanitizer sees a read beyond the piece.
      const std::string bytes = text.substr(i, piece);
      parser.feed(bytes, got, losses);
    }
    parser.finish(losses);
    std::string summary;
    for (const Taken& t : got.readings) summary += t.name + "=" + std::to_string(t.value) + " ";
    for (size_t i = 0; i < kTroubles; ++i) {
      summary += std::to_string(losses.count(static_cast<Trouble>(i))) + ",";
    }
    return summary;
  };
  const std::string whole = run(text.size());
  EXPECT_EQ(whole.substr(0, whole.find(',') - 1),
            "fps=12.500000 b=2.000000 d=4.000000 f=6.000000 ");
  for (size_t piece = 1; piece < text.size(); piece += piece < 300 ? 1 : 97) {
    ASSERT_EQ(run(piece), whole) << "in pieces of " << piece;
  }
}

TEST_F(MessageParsing, counts_a_broken_message_once_and_goes_on) {
  const std::vector<std::string> broken = {"no json",
                                           "[1, 2]",
                                           "12",
                                           "{\"a\" 1}",
                                           "{\"a\": }",
                                           "{\"a\": 1,}",
                                           "{\"a\": 1 \"b\"",
                                           "{'a': 1}",
                                           "{\"a\": 1]",
                                           "{\"a\": [1}}",
                                           "{\"a\": +1}",
                                           "{\"a\": .}",
                                           "{\"a\": .5x}",
                                           "{\"a\": \"\\q\"}",
                                           "{\"a\n\": 1}",
                                           "{\"a\": {\"value\": 12.5",
                                           "{\"a\": 1\n\"b\": 2\n\"c\": 3}",
                                           "}",
                                           "{{",
                                           "\x01\xff"};
  for (const std::string& text : broken) {
    got_.readings.clear();
    losses_.clear();
    feed(text + "\n\n{\"good\": 1}\n\n");
    EXPECT_EQ(values(), (Values{{"good", 1}})) << text;
    EXPECT_EQ(lost(Trouble::not_json), 1U) << text;
    EXPECT_EQ(losses_.total(), 1U) << text;
  }
}

TEST_F(MessageParsing, goes_on_at_a_line_that_begins_an_object_even_without_a_blank_line) {
  feed("{\"a\": \n{\"b\": 1}\n{\"c\": 2}\n{\"d\": !\n{\"e\": 3}\n");
  EXPECT_EQ(values(), (Values{{"c", 2}, {"e", 3}}));
  EXPECT_EQ(lost(Trouble::not_json), 2U);
}

TEST_F(MessageParsing, a_broken_message_gives_none_of_its_readings) {
  feed("{\"a\": 1, \"b\": 2, oops}\n\n");
  EXPECT_TRUE(got_.readings.empty());
  EXPECT_EQ(lost(Trouble::not_json), 1U);
}

TEST_F(MessageParsing, drops_single_metrics_that_have_no_usable_number) {
  feed(R"({"good": 1, "a": true, "b": "12", "c": null, "d": [1], "e": {"value": "x"},
          "f": {"value": {"value": 1}}, "g": {"value": [2]}})");
  EXPECT_EQ(lost(Trouble::not_a_number), 7U);
  feed(R"({"a": NaN, "b": {"value": -Infinity}, "c": 1e400, "d": )" + std::string(600, '1') + "}");
  EXPECT_EQ(lost(Trouble::out_of_range), 4U);
  feed(R"({"a": {}, "b": {"timestamp": 1}})");
  EXPECT_EQ(lost(Trouble::no_value), 2U);
  feed("{\"" + std::string(StringToken::kLimit + 1, 'n') + "\": 1}");
  EXPECT_EQ(lost(Trouble::bad_name), 1U);
  EXPECT_EQ(values(), (Values{{"good", 1}}));
  EXPECT_EQ(losses_.total(), 14U);
}

TEST_F(MessageParsing, a_time_stamp_that_is_no_number_is_implausible_not_absent) {
  feed(R"({"a": {"value": 1, "timestamp": "now"}})");
  EXPECT_EQ(got_.times, (std::vector<double>{0}));
}

TEST_F(MessageParsing, bounds_the_depth) {
  std::string at_limit = "{\"a\": ";
  for (int i = 1; i < MessageParser::kMaxDepth; ++i) at_limit += '[';
  for (int i = 1; i < MessageParser::kMaxDepth; ++i) at_limit += ']';
  feed(at_limit + "}\n\n");
  EXPECT_EQ(lost(Trouble::too_deep), 0U);
  feed("{\"a\": " + std::string(3000, '[') + "\n\n{\"good\": 1}\n\n");
  EXPECT_EQ(lost(Trouble::too_deep), 1U);
  EXPECT_EQ(values(), (Values{{"good", 1}}));
}

TEST_F(MessageParsing, skips_endless_messages_and_counts_each_once) {
  feed("{\"a\": \"");
  for (int i = 0; i < 1000; ++i) feed(std::string(1000, 'x'));
  feed("\"}\n\n{\"good\": 1}\n\n");
  feed("{\"a\": [\n");
  for (int i = 0; i < 1000; ++i) feed("  1234567890,\n");
  feed("1]}\n\n{\"good\": 2}\n\n");
  EXPECT_EQ(lost(Trouble::too_long), 2U);
  EXPECT_EQ(losses_.total(), 2U);
  EXPECT_EQ(values(), (Values{{"good", 1}, {"good", 2}}));
}

TEST_F(MessageParsing, the_longest_message_allowed_is_taken) {
  const std::string head = "{\"a\": 1, \"pad\": [";
  const std::string tail = "]}";
  const std::string pad(kMessageBytes - head.size() - tail.size(), ' ');
  feed(head + pad + tail);
  EXPECT_EQ(values(), (Values{{"a", 1}}));
  feed(head + pad + " " + tail + "\n");
  EXPECT_EQ(lost(Trouble::too_long), 1U);
}

TEST_F(MessageParsing, bounds_the_metrics_of_one_message) {
  std::string text = "{";
  for (size_t i = 0; i < MessageParser::kMaxMetrics + 5; ++i) text += "\"n\":1,";
  text.back() = '}';
  feed(text);
  EXPECT_EQ(got_.readings.size(), MessageParser::kMaxMetrics);
  EXPECT_EQ(lost(Trouble::too_many_metrics), 5U);
}

TEST_F(MessageParsing, a_client_that_leaves_mid_message_loses_it) {
  feed("{\"a\": 1}\n\n");
  parser_.finish(losses_);
  EXPECT_EQ(losses_.total(), 0U);
  feed("{\"a\": 1");
  parser_.finish(losses_);
  EXPECT_EQ(lost(Trouble::cut_off), 1U);
  EXPECT_EQ(values(), (Values{{"a", 1}}));
}

}  // namespace
}  // namespace assay::hooks
