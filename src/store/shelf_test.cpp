// SPDX-License-Identifier: Apache-2.0
#include "test_support.h"

#include <assay/store/shelf.h>
#include <gtest/gtest.h>

namespace assay::store {
namespace {

std::vector<std::string> names(const Result<std::vector<Document>>& documents) {
  std::vector<std::string> found;
  if (!documents) return {documents.error().message};
  for (const auto& one : *documents) found.push_back(one.name + " " + one.json);
  return found;
}
using Names = std::vector<std::string>;

TEST(SqliteShelf, keeps_documents_by_kind_and_name) {
  const TempFolder folder;
  {
    auto shelf = open_sqlite_shelf(folder / "below/history.db");
    ASSERT_TRUE(shelf) << shelf.error().message;
    ASSERT_TRUE((*shelf)->put("device", "pi", R"({"a":1})"));
    ASSERT_TRUE((*shelf)->put("device", "desk", R"({"a":2})"));
    ASSERT_TRUE((*shelf)->put("learned", "pi", "{}"));
    ASSERT_TRUE((*shelf)->put("device", "pi", R"({"a":3})"));
  }
  auto shelf = open_sqlite_shelf(folder / "below/history.db");
  ASSERT_TRUE(shelf) << shelf.error().message;
  EXPECT_EQ(names((*shelf)->list("device")), (Names{R"(desk {"a":2})", R"(pi {"a":3})"}));
  EXPECT_EQ(names((*shelf)->list("nothing")), Names{});
  const auto written = (*shelf)->list("device")->front().written;
  EXPECT_LT(SystemClock().wall() - written, std::chrono::minutes(5));
  EXPECT_TRUE((*shelf)->remove("device", "pi").value_or(false));
  EXPECT_FALSE((*shelf)->remove("device", "pi").value_or(true));
  EXPECT_EQ(names((*shelf)->list("device")), Names{R"(desk {"a":2})"});
}

TEST(SqliteShelf, shares_its_file_with_the_history) {
  const TempFolder folder;
  auto store = open_sqlite(folder / "history.db");
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE((*store)->add_session(example_session("s")));
  auto shelf = open_sqlite_shelf(folder / "history.db");
  ASSERT_TRUE(shelf) << shelf.error().message;
  ASSERT_TRUE((*shelf)->put("device", "pi", "{}"));
  EXPECT_EQ((*store)->list()->size(), 1U);
}

TEST(PostgresShelf, is_known_by_its_address) {
  EXPECT_TRUE(is_postgres("postgresql://user@host/db"));
  EXPECT_TRUE(is_postgres("postgres://host"));
  EXPECT_FALSE(is_postgres("/var/lib/assay/history.db"));
}

TEST(PostgresShelf, nobody_there_is_said) {
  const auto shelf = open_postgres_shelf("postgresql://127.0.0.1:1/assay");
  ASSERT_FALSE(shelf);
  EXPECT_TRUE(shelf.error().message.starts_with("the shared store does not answer: "))
      << shelf.error().message;
}

}  // namespace
}  // namespace assay::store
