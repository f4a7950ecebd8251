// SPDX-License-Identifier: Apache-2.0
#include "watch_lines.h"

#include <vector>

#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

using Lines = std::vector<std::string>;

TEST(WatchLines, come_whole_however_the_stream_is_cut) {
  const std::string_view text = "one\ntwo and more\n\nthree\nnot yet";
  for (size_t size = 1; size <= text.size(); ++size) {
    WatchLines lines;
    Lines seen;
    for (size_t at = 0; at < text.size(); at += size) {
      const auto fed = lines.feed(text.substr(at, size), [&](std::string_view line) {
        seen.emplace_back(line);
        return true;
      });
      ASSERT_TRUE(fed && *fed);
    }
    EXPECT_EQ(seen, (Lines{"one", "two and more", "three"})) << size;
  }
}

TEST(WatchLines, none_come_after_the_end) {
  WatchLines lines;
  Lines seen;
  const auto fed = lines.feed("one\ntwo\n", [&](std::string_view line) {
    seen.emplace_back(line);
    return false;
  });
  ASSERT_TRUE(fed);
  EXPECT_FALSE(*fed);
  EXPECT_EQ(seen, Lines{"one"});
}

TEST(WatchLines, an_endless_one_is_an_error) {
  const std::string piece(WatchLines::kLongest / 2, 'x');
  const auto never = [](std::string_view) { return true; };
  WatchLines lines;
  EXPECT_TRUE(lines.feed(piece, never));
  EXPECT_TRUE(lines.feed(piece, never));
  EXPECT_FALSE(lines.feed("x\n", never));
}

}  // namespace
}  // namespace assay::kubeapi
