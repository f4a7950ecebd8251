// SPDX-License-Identifier: Apache-2.0
#include "top_keys.h"

#include <gtest/gtest.h>

namespace assay::cli {
namespace {

using Keys = std::vector<Key>;

Key text(const char* bytes) {
  return {KeyKind::text, bytes};
}
Key function(int number) {
  return {KeyKind::function, "", number};
}

TEST(KeyReader, knows_arrows_in_both_modes_of_a_terminal) {
  KeyReader reader;
  EXPECT_EQ(reader.take("\033[A\033OB\033[C\033OD"),
            (Keys{{KeyKind::up}, {KeyKind::down}, {KeyKind::right}, {KeyKind::left}}));
}

TEST(KeyReader, knows_pages_and_ends_of_xterm_rxvt_and_the_console) {
  KeyReader reader;
  EXPECT_EQ(reader.take("\033[5~\033[6~\033[H\033[1~\033[7~\033OF\033[4~"),
            (Keys{{KeyKind::page_up},
                  {KeyKind::page_down},
                  {KeyKind::home},
                  {KeyKind::home},
                  {KeyKind::home},
                  {KeyKind::end},
                  {KeyKind::end}}));
}

TEST(KeyReader, knows_function_keys_of_xterm_vt_and_the_console) {
  KeyReader reader;
  EXPECT_EQ(reader.take("\033OP\033[13~\033[[D\033[17~\033[21~"),
            (Keys{function(1), function(3), function(4), function(6), function(10)}));
}

TEST(KeyReader, ignores_shift_and_control_beside_a_key) {
  KeyReader reader;
  EXPECT_EQ(reader.take("\033[1;5A\033[5;2~"), (Keys{{KeyKind::up}, {KeyKind::page_up}}));
}

TEST(KeyReader, takes_a_sequence_in_any_cutting) {
  KeyReader reader;
  EXPECT_EQ(reader.take("\033"), Keys{});
  EXPECT_EQ(reader.take("[1"), Keys{});
  EXPECT_TRUE(reader.waiting());
  EXPECT_EQ(reader.take("7~q"), (Keys{function(6), text("q")}));
  EXPECT_FALSE(reader.waiting());
}

TEST(KeyReader, an_escape_alone_is_the_key) {
  KeyReader reader;
  EXPECT_EQ(reader.take("\033"), Keys{});
  EXPECT_TRUE(reader.waiting());
  EXPECT_EQ(reader.give_up(), Keys{{KeyKind::escape}});
  EXPECT_FALSE(reader.waiting());
  EXPECT_EQ(reader.take("\033q"), (Keys{{KeyKind::escape}, text("q")}));
}

TEST(KeyReader, what_was_typed_behind_escape_is_not_lost) {
  KeyReader reader;
  EXPECT_EQ(reader.take("\033["), Keys{});
  EXPECT_EQ(reader.give_up(), (Keys{{KeyKind::escape}, text("[")}));
}

TEST(KeyReader, characters_come_whole) {
  KeyReader reader;
  EXPECT_EQ(reader.take("a\xC3"), Keys{text("a")});
  EXPECT_EQ(reader.take("\xA9水"), (Keys{text("é"), text("水")}));
}

TEST(KeyReader, swallows_what_no_key_sends) {
  KeyReader reader;
  EXPECT_EQ(reader.take("\033[200~\x01\033[?1;2c\033[[Zx"), Keys{text("x")});
  EXPECT_EQ(reader.take("\033[" + std::string(100, '1')), Keys{});
  EXPECT_FALSE(reader.waiting());
}

TEST(KeyReader, enter_and_backspace) {
  KeyReader reader;
  EXPECT_EQ(reader.take("\r\n\x7F\b"),
            (Keys{{KeyKind::enter}, {KeyKind::enter}, {KeyKind::backspace}, {KeyKind::backspace}}));
}

}  // namespace
}  // namespace assay::cli
