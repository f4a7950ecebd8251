// SPDX-License-Identifier: Apache-2.0
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

}  // namespace
}  // namespace assay::store
