// SPDX-License-Identifier: Apache-2.0
#include "top_text.h"

#include <clocale>

#include <gtest/gtest.h>

namespace assay::cli {
namespace {

class TopText : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr); }
  void TearDown() override { std::setlocale(LC_CTYPE, "C"); }
};

TEST_F(TopText, control_characters_and_escapes_are_not_obeyed) {
  EXPECT_EQ(safe_text("a\033[2Jb\nc\x7F"), "a?[2Jb?c?");
  EXPECT_EQ(safe_text("x\xC2\x9B"
                      "2Jy"),
            "x?2Jy");
  EXPECT_EQ(safe_text(std::string_view("a\0b", 3)), "a?b");
}

TEST_F(TopText, what_turns_the_direction_of_writing_is_left_out) {
  EXPECT_EQ(safe_text("abc\xE2\x80\xAE"
                      "def"),
            "abcdef");
}

TEST_F(TopText, bytes_that_are_no_characters_are_one_mark) {
  EXPECT_EQ(safe_text("a\xFF"
                      "b\xE6\xB0"),
            "a?b?");
}

TEST_F(TopText, wide_characters_take_two_columns) {
  EXPECT_EQ(text_columns("水位"), 4U);
  EXPECT_EQ(left_cell("水位", 6), "水位  ");
  EXPECT_EQ(left_cell("水位", 3), "水…");
  EXPECT_EQ(left_cell("水位", 2), "… ");
  EXPECT_EQ(right_cell("水位", 3), " 水");
}

TEST_F(TopText, cells_have_the_width_that_was_asked_for) {
  EXPECT_EQ(left_cell("détecteur", 5), "déte…");
  EXPECT_EQ(right_cell("é", 3), "  é");
  EXPECT_EQ(left_cell("", 2), "  ");
}

TEST_F(TopText, another_locale_shows_ascii_only) {
  std::setlocale(LC_CTYPE, "C");
  EXPECT_EQ(safe_text("dé水r"), "d??r");
  EXPECT_EQ(left_cell("detector", 4), "det~");
}

}  // namespace
}  // namespace assay::cli
