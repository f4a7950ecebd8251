// SPDX-License-Identifier: Apache-2.0
#include "json_tokens.h"

#include <string>

#include <gtest/gtest.h>

namespace assay::hooks {
namespace {

Step take(StringToken& token, std::string_view bytes) {
  const char* p = bytes.data();
  return token.take(p, p + bytes.size());
}

std::string decoded(std::string_view bytes) {
  StringToken token;
  token.begin(true);
  if (take(token, bytes) != Step::done) return "(not done)";
  return std::string(token.text());
}

ScalarToken::Kind read(std::string_view text, double& value) {
  ScalarToken token;
  token.begin();
  const std::string bytes = std::string(text) + ",";
  const char* p = bytes.data();
  EXPECT_EQ(token.take(p, p + bytes.size()), Step::done);
  return token.read(value);
}

TEST(StringTokens, decode_every_escape) {
  EXPECT_EQ(decoded(R"(a\"\\\/\b\f\n\r\tz")"), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(decoded(R"(\u0041\u00e9\u20AC\ud83d\ude00")"), "A\u00e9\u20ac\U0001F600");
}

TEST(StringTokens, replace_half_of_a_surrogate_pair) {
  EXPECT_EQ(decoded(R"(\ud83d")"), "\uFFFD");
  EXPECT_EQ(decoded(R"(\ud83dx")"), "\uFFFDx");
  EXPECT_EQ(decoded(R"(\ud83d\ud83d\ude00")"), "\uFFFD\U0001F600");
  EXPECT_EQ(decoded(R"(\ude00")"), "\uFFFD");
}

TEST(StringTokens, refuse_what_json_refuses) {
  for (const std::string_view bad : {"\\x\"", "\\u12g4\"", "a\nb\"", "a\x01\""}) {
    StringToken token;
    token.begin(true);
    EXPECT_EQ(take(token, bad), Step::bad) << bad;
  }
}

TEST(StringTokens, keep_a_bounded_part) {
  StringToken token;
  token.begin(true);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(take(token, "0123456789"), Step::more);
  EXPECT_EQ(take(token, "\""), Step::done);
  EXPECT_TRUE(token.cut());
  EXPECT_LE(token.text().size(), StringToken::kLimit);
}

TEST(ScalarTokens, tell_numbers_from_words) {
  double value = 0;
  EXPECT_EQ(read("-12.5e-1", value), ScalarToken::Kind::number);
  EXPECT_EQ(value, -1.25);
  EXPECT_EQ(read("true", value), ScalarToken::Kind::word);
  EXPECT_EQ(read("null", value), ScalarToken::Kind::word);
  EXPECT_EQ(read("maybe", value), ScalarToken::Kind::bad);
  EXPECT_EQ(read("1.2.3", value), ScalarToken::Kind::bad);
  EXPECT_EQ(read("", value), ScalarToken::Kind::bad);
}

TEST(ScalarTokens, know_what_no_double_can_hold) {
  double value = 0;
  for (const std::string_view text : {"NaN", "Infinity", "-Infinity", "1e999", "-1e999"}) {
    EXPECT_EQ(read(text, value), ScalarToken::Kind::out_of_range) << text;
  }
  EXPECT_EQ(read(std::string(100000, '9'), value), ScalarToken::Kind::out_of_range);
}

TEST(PlainText, is_valid_utf8_without_control_characters) {
  EXPECT_TRUE(is_plain_text("frames per second"));
  EXPECT_TRUE(is_plain_text("d\u00e9bit \u20ac \U0001F600"));
  for (const std::string_view bad : {"a\nb", "\x7f", "\xc2\x85", "\xff", "\xc3", "\xc0\xaf",
                                     "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    EXPECT_FALSE(is_plain_text(bad));
  }
}

}  // namespace
}  // namespace assay::hooks
