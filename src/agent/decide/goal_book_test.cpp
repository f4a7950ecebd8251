// SPDX-License-Identifier: Apache-2.0
#include "decide/goal_book.h"

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

TEST(GoalBook, reads_several_goals_of_one_label) {
  const auto goals = parse_goals("fps >= 10, latency.p95 <= 200ms;\n memory < 1GB\n");
  ASSERT_TRUE(goals);
  ASSERT_EQ(goals->size(), 3U);
  EXPECT_EQ(goals->at(1).metric, "latency");
  EXPECT_DOUBLE_EQ(goals->at(1).bound, 0.2);
  EXPECT_TRUE(parse_goals("  ").value().empty());
}

TEST(GoalBook, names_the_goal_that_cannot_be_read) {
  const auto goals = parse_goals("fps >= 10, quick");
  ASSERT_FALSE(goals);
  EXPECT_NE(goals.error().message.find("quick"), std::string::npos) << goals.error().message;
}

TEST(GoalBook, what_a_caller_sets_comes_first_until_it_is_taken_back) {
  GoalBook book;
  EXPECT_TRUE(book.of("/a").empty());
  book.label("/a", parse_goals("fps >= 10").value());
  book.set("/a", parse_goals("fps >= 20").value());
  EXPECT_DOUBLE_EQ(book.of("/a").at(0).bound, 20);
  book.set("/a", {});
  EXPECT_DOUBLE_EQ(book.of("/a").at(0).bound, 10);
  book.forget("/a");
  EXPECT_TRUE(book.of("/a").empty());
}

TEST(GoalBook, what_a_caller_has_set_can_be_written_down_and_read_again) {
  GoalBook before;
  EXPECT_EQ(before.written(), "");
  before.label("/a", parse_goals("fps >= 1").value());
  before.set("/b", parse_goals("fps >= 10, latency.p95 <= 200ms").value());
  GoalBook after;
  EXPECT_EQ(after.read(before.written()), std::vector<std::string>{"/b"});
  EXPECT_TRUE(after.of("/a").empty());
  ASSERT_EQ(after.of("/b").size(), 2U);
  EXPECT_EQ(after.of("/b")[1].text, before.of("/b")[1].text);
  EXPECT_EQ(after.written(), before.written());
}

TEST(GoalBook, what_cannot_be_read_is_left_out) {
  GoalBook book;
  EXPECT_TRUE(book.read("").empty());
  EXPECT_TRUE(book.read("[1]").empty());
  EXPECT_EQ(book.read(R"({"/a": 4, "/b": ["fast", 7], "/c": ["fast", "fps >= 3"]})"),
            std::vector<std::string>{"/c"});
}

}  // namespace
}  // namespace assay::agent
