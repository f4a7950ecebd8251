// SPDX-License-Identifier: Apache-2.0
#include <assay/base/letters.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Letters, become_small) {
  EXPECT_EQ(lower_case("GPU-0 Util"), "gpu-0 util");
  EXPECT_EQ(lower_case("Überlauf"), "Überlauf") << "those of other alphabets stay";
}

TEST(Letters, what_a_terminal_obeys_is_not_printed) {
  EXPECT_EQ(printable("a\x1b[31m\tb\x7f"), "a?[31m?b?");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "??31m")
      << "CSI in one letter";
}

TEST(Letters, of_utf8_are_printed_and_other_bytes_are_not) {
  EXPECT_EQ(printable("Füllstand µ 水 🌊"), "Füllstand µ 水 🌊");
  EXPECT_EQ(printable("F\xfcllstand"), "F?llstand") << "Latin-1";
  EXPECT_EQ(printable("\xe6\xb0"), "??") << "cut";
  EXPECT_EQ(printable(""), "");
}

TEST(Letters, that_utf8_forbids_are_not_printed) {
  EXPECT_EQ(printable("\xc0\xaf\xc1\xbf"), "????") << "overlong, in two bytes";
  EXPECT_EQ(printable("\xe0\x80\xaf\xe0\x9f\xbf"), "??????") << "overlong, in three";
  EXPECT_EQ(printable("\xf0\x80\x80\xaf\xf0\x8f\xbf\xbf"), "????????") << "overlong, in four";
  EXPECT_EQ(printable("\xed\xa0\x80\xed\xbf\xbf"), "??????") << "surrogates";
  EXPECT_EQ(printable("\xf4\x90\x80\x80\xf5\x80\x80\x80"), "????????") << "above 10FFFF";
  for (const char* fair :
       {"\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(printable(fair), fair) << "just beside them";
}

TEST(Letters, of_utf8_are_not_cut_inside) {
  const std::string text = "aµ水";
  std::string inside;
  for (const char c : text) inside += continues_utf8(c) ? '+' : '.';
  EXPECT_EQ(inside, "..+.++");
}

}  // namespace
}  // namespace assay
