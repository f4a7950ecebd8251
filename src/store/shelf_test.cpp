// SPDX-License-Identifier: Apache-2.0
#include "test_support.h"

#include <assay/store/shelf.h>
#include <gtest/gtest.h>

namespace assay::store {
namespace {

// What a real PostgreSQL does with it: tests/e2e/test_shared_store.py.

TEST(Shelf, is_known_by_its_address) {
  EXPECT_TRUE(is_postgres("postgresql://user@host/db"));
  EXPECT_TRUE(is_postgres("postgres://host"));
  EXPECT_FALSE(is_postgres("/var/lib/assay/history.db"));
}

TEST(Shelf, nobody_there_is_said) {
  const auto shelf = Shelf::open("postgresql://127.0.0.1:1/assay");
  ASSERT_FALSE(shelf);
  EXPECT_TRUE(shelf.error().message.starts_with("the shared store does not answer: "))
      << shelf.error().message;
}

TEST(SqliteShelf, keeps_documents_beside_sessions) {
  const TempFolder folder;
  const auto store = must_open(folder / "h.db");
  auto shelf = Shelf::open_sqlite(folder / "h.db");
  ASSERT_TRUE(shelf) << shelf.error().message;
  ASSERT_TRUE((*shelf)->put("job", "b", R"({"x": 1})"));
  ASSERT_TRUE((*shelf)->put("job", "b", R"({"x": 2})"));
  const std::vector<std::pair<std::string, std::string>> more = {{"a", "{}"}, {"c", "{}"}};
  ASSERT_TRUE((*shelf)->put_all("job", more));
  ASSERT_TRUE((*shelf)->put("node", "a", "[]"));
  ASSERT_TRUE(store->add_session(example_session("s")));

  auto again = Shelf::open_sqlite(folder / "h.db");
  const auto jobs = (*again)->list("job");
  ASSERT_TRUE(jobs);
  ASSERT_EQ(jobs->size(), 3u);
  EXPECT_EQ((*jobs)[0].name, "a");
  EXPECT_EQ((*jobs)[1].json, R"({"x": 2})");
  EXPECT_EQ(*(*again)->names("job"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ((**(*again)->find("node", "a")).json, "[]");
  EXPECT_FALSE(*(*again)->find("node", "b"));
  EXPECT_TRUE(*(*again)->written("job", "c"));
  EXPECT_TRUE(*(*again)->remove("job", "c"));
  EXPECT_FALSE(*(*again)->remove("job", "c"));
  ASSERT_TRUE((*again)->remove_older("job", (*jobs)[0].written));
  EXPECT_EQ((*again)->list("job")->size(), 1u);
}

}  // namespace
}  // namespace assay::store
