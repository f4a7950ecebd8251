// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <assay/base/wording.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(InQuotes, shortens_and_hides_control_characters) {
  EXPECT_EQ(in_quotes("plain"), "'plain'");
  EXPECT_EQ(in_quotes("a\x1b[2Jb"), "'a?[2Jb'");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "'" + std::string(60, 'x') + "…'");
  EXPECT_EQ(in_quotes(std::string(59, 'x') + "äy"), "'" + std::string(59, 'x') + "…'")
      << "never half a character";
}

TEST(Suggestion, names_what_is_near_or_all_that_is_valid) {
  constexpr std::array<std::string_view, 3> kWords = {"timeout", "warmup", "repeat"};
  EXPECT_EQ(suggestion("timeuot", kWords), "; did you mean 'timeout'?");
  EXPECT_EQ(suggestion("xyz", kWords), "; choose of: timeout, warmup, repeat");
}

TEST(IsOneSlip, is_one_letter_or_two_swapped) {
  EXPECT_TRUE(is_one_slip("name", "nmae"));
  EXPECT_TRUE(is_one_slip("name", "names"));
  EXPECT_FALSE(is_one_slip("name", "main"));
}

}  // namespace
}  // namespace assay
