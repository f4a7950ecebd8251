// SPDX-License-Identifier: Apache-2.0
#include "layout.h"

#include <gtest/gtest.h>

namespace assay::report {
namespace {

TEST(Wrapped, breaks_between_words_and_indents) {
  const std::string text =
      wrapped("  • ", std::string(60, 'a') + " " + std::string(60, 'b') + " c", 100);
  EXPECT_EQ(text, "  • " + std::string(60, 'a') + "\n    " + std::string(60, 'b') + " c\n");
}

TEST(Wrapped, keeps_a_long_word_whole) {
  const std::string path = "/" + std::string(120, 'p');
  EXPECT_EQ(wrapped("- ", path, 100), "- " + path + "\n");
}

TEST(Fitted, counts_characters_and_not_bytes) {
  EXPECT_EQ(fitted("äöü", 3), "äöü");
  EXPECT_EQ(fitted("äöüß", 3), "äö…");
}

TEST(Table, aligns_columns) {
  EXPECT_EQ(table({{"Name", "mean"}, {"µ", "1.5"}, {"alone"}}),
            (std::vector<std::string>{"Name   mean", "µ       1.5", "alone"}));
}

}  // namespace
}  // namespace assay::report
