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

TEST(Letters, of_utf8_are_not_cut_inside) {
  const std::string text = "aµ水";
  std::string inside;
  for (const char c : text) inside += continues_utf8(c) ? '+' : '.';
  EXPECT_EQ(inside, "..+.++");
}

}  // namespace
}  // namespace assay
