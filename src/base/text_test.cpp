// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <assay/base/text.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using Words = std::vector<std::string>;

TEST(SplitWords, follows_posix_quoting) {
  EXPECT_EQ(split_words("-interval 1  --use-gpu").value(), (Words{"-interval", "1", "--use-gpu"}));
  EXPECT_EQ(split_words(R"(a 'b c' "d \"e\"" f\ g)").value(),
            (Words{"a", "b c", "d \"e\"", "f g"}));
  EXPECT_EQ(split_words(R"("" x'y'z)").value(), (Words{"", "xyz"}));
  EXPECT_EQ(split_words("$HOME *.txt a|b").value(), (Words{"$HOME", "*.txt", "a|b"}));
  EXPECT_TRUE(split_words("  \n").value().empty());
}

TEST(SplitWords, says_what_is_open) {
  EXPECT_EQ(split_words("a 'b").error().message, "unclosed ' in: a 'b");
  EXPECT_FALSE(split_words("a \"b"));
  EXPECT_FALSE(split_words("a \\"));
}

TEST(JoinWords, is_the_inverse_of_split) {
  const Words words = {"plain", "two words", "it's", "", "a\"b", "$x"};
  EXPECT_EQ(split_words(join_words(words)).value(), words);
}

TEST(Nearest, finds_typos_and_not_strangers) {
  constexpr std::array<std::string_view, 3> kKeys = {"timeout", "targets", "metrics"};
  EXPECT_EQ(nearest("timout", kKeys), "timeout");
  EXPECT_EQ(nearest("metric", kKeys), "metrics");
  EXPECT_EQ(nearest("zebra", kKeys), std::nullopt);
}

TEST(ParseNumber, takes_whole_strings_only) {
  EXPECT_EQ(parse_int("-12"), -12);
  EXPECT_EQ(parse_uint("18446744073709551615"), 18446744073709551615ULL);
  EXPECT_EQ(parse_uint("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_double("1.5"), 1.5);
  for (const auto* text : {"", " 1", "1 ", "1x", "nan", "inf", "1e999"}) {
    EXPECT_EQ(parse_double(text), std::nullopt) << text;
  }
}

TEST(ParseBytes, takes_the_forms_people_write) {
  EXPECT_EQ(parse_bytes("512").value(), 512U);
  EXPECT_EQ(parse_bytes("512MB").value(), 512'000'000U);
  EXPECT_EQ(parse_bytes("512 MiB").value(), 512U << 20U);
  EXPECT_EQ(parse_bytes("64k").value(), 65536U);
  EXPECT_EQ(parse_bytes("1.5GiB").value(), 3U << 29U);
  EXPECT_EQ(parse_bytes("2g").value(), 2U << 30U);
  for (const auto* text : {"", "MB", "-1", "1XB", "1e30", "5 parsecs"})
    EXPECT_FALSE(parse_bytes(text)) << text;
}

TEST(Format, keeps_three_digits) {
  EXPECT_EQ(format_bytes(612'400'000), "612 MB");
  EXPECT_EQ(format_bytes(1.8e9), "1.8 GB");
  EXPECT_EQ(format_bytes(999'900), "1 MB");
  EXPECT_EQ(format_number(12.4), "12.4");
  EXPECT_EQ(format_number(0.01234), "0.0123");
  EXPECT_EQ(format_number(1830), "1 830");
  EXPECT_EQ(format_number(-1234567), "-1 234 567");
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(1113.2741, 2), "1 113.27");
  EXPECT_EQ(format_number(0.01234, 2), "0.0123");
  EXPECT_EQ(format_number(101.5, 20), "101.5");
  EXPECT_EQ(format_number(0.1 + 0.2, 20), "0.3");
}

TEST(NextField, walks_through_a_line) {
  std::string_view rest = "a,b,,c";
  EXPECT_EQ(next_field(rest, ','), "a");
  EXPECT_EQ(next_field(rest, ','), "b");
  EXPECT_EQ(next_field(rest, ','), "");
  EXPECT_EQ(next_field(rest, ','), "c");
  EXPECT_TRUE(rest.empty());
}

TEST(Base64, goes_there_and_back) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {std::string("\0\xff\xfe", 3), "AP/+"},
      {"user:word", "dXNlcjp3b3Jk"}};
  for (const auto& [bytes, text] : pairs) {
    EXPECT_EQ(base64_encoded(bytes), text);
    EXPECT_EQ(base64_decoded(text), bytes) << text;
  }
  EXPECT_EQ(base64_decoded(" Zm\n9v\r\n"), "foo");
}

TEST(Base64, has_four_characters_for_three_bytes_and_no_others) {
  for (const char* bad :
       {"Z", "Zg", "Zg=", "Zg==Zg==", "Z===", "====", "Zm9*", "Zm9v=", "Zg=v", "-_=="})
    EXPECT_FALSE(base64_decoded(bad)) << bad;
}

TEST(BitRate, is_a_number_with_a_unit_of_bits) {
  EXPECT_EQ(parse_bit_rate("2mbit").value_or(0), 2e6);
  EXPECT_EQ(parse_bit_rate(" 500 kbit ").value_or(0), 5e5);
  EXPECT_EQ(parse_bit_rate("1.5Gbit/s").value_or(0), 1.5e9);
  EXPECT_EQ(parse_bit_rate("9600bit").value_or(0), 9600);
  EXPECT_EQ(parse_bit_rate("1tbit").value_or(0), 1e12);
  for (const char* bad :
       {"", "2", "mbit", "-2mbit", "0mbit", "2 mbits", "2mb", "2 mbit 3", "1e3mbit"})
    EXPECT_FALSE(parse_bit_rate(bad)) << bad;
}

TEST(BitRate, of_which_nobody_knows_what_it_means_is_refused) {
  for (const char* text : {"250 kbps", "2mbps", "9600bps", "1gbps"}) {
    const auto rate = parse_bit_rate(text);
    ASSERT_FALSE(rate) << text;
    EXPECT_NE(rate.error().message.find("bytes to some tools and bits to others"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace assay
