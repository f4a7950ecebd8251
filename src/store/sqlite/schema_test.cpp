// SPDX-License-Identifier: Apache-2.0
#include "sqlite/schema.h"

#include "json_text.h"
#include "sqlite/session_rows.h"
#include "sqlite/sqlite_store.h"
#include "test_support.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <gtest/gtest.h>

namespace assay::store {
namespace {

/// What a later version could add.
std::vector<const char*> with_extra_step(const char* extra) {
  std::vector<const char*> steps(schema_steps().begin(), schema_steps().end());
  steps.push_back(extra);
  return steps;
}

TEST(Schema, an_older_file_is_brought_up_to_date_with_its_content) {
  const TempFolder folder;
  {
    auto store = SqliteStore::open(folder / "h.db", schema_steps());
    ASSERT_TRUE(store) << store.error().message;
    SessionRecord session = example_session("old");
    session.runs = {example_run(1, RunStatus::finished)};
    ASSERT_TRUE((*store)->add_session(session));
    ASSERT_TRUE((*store)->append("old", 1, {example_series("x", 0, 5)}));
  }
  const auto steps =
      with_extra_step("ALTER TABLE runs ADD COLUMN joules REAL; UPDATE runs SET joules = 4.5");
  {
    auto store = SqliteStore::open(folder / "h.db", steps);
    ASSERT_TRUE(store) << store.error().message;
    expect_samples(stored(**store, "old", 1, "x"), example_series("x", 0, 5));
    EXPECT_EQ((*store)->session("last")->id, "old");
  }
  auto db = Database::open(folder / "h.db");
  EXPECT_EQ(*db->number("PRAGMA user_version"), static_cast<int64_t>(steps.size()));
  EXPECT_EQ(*db->number("SELECT joules * 2 FROM runs"), 9);
}

TEST(Schema, running_runs_of_the_first_version_are_judged_by_what_it_kept) {
  const TempFolder folder;
  {
    auto db = Database::open(folder / "h.db");
    ASSERT_TRUE(migrate(*db, schema_steps().first(1)));
    for (const auto& [id, pid] : {std::pair("lives", ::getpid()), std::pair("gone", 1 << 22)}) {
      const std::string session = id;
      ASSERT_TRUE(insert_session(*db, example_session(session)));
      ASSERT_TRUE(
          db->change("INSERT INTO runs (session_id, ordinal, status, record, writer_pid, "
                     "writer_start, writer_boot) VALUES (?, 1, 'running', ?, ?, ?, ?)",
                     session, json_text(to_json(example_run(1, RunStatus::running))), pid,
                     static_cast<int64_t>(ProcessId::self(SysRoot()).start_ticks),
                     ProcessId::self(SysRoot()).boot));
    }
  }
  EXPECT_EQ(*must_open(folder / "h.db")->cut_off(), std::vector<std::string>{"gone"});
}

TEST(Schema, a_step_that_fails_leaves_the_file_as_it_was) {
  const TempFolder folder;
  ASSERT_TRUE(SqliteStore::open(folder / "h.db", schema_steps()));
  const auto steps = with_extra_step("CREATE TABLE half (x); CREATE TABLE runs (id)");
  EXPECT_FALSE(SqliteStore::open(folder / "h.db", steps));
  auto db = Database::open(folder / "h.db");
  EXPECT_EQ(*db->number("PRAGMA user_version"), static_cast<int64_t>(schema_steps().size()));
  EXPECT_EQ(*db->number("SELECT count(*) FROM sqlite_master WHERE name = 'half'"), 0);
}

TEST(Schema, a_newer_file_is_refused_and_left_alone) {
  const TempFolder folder;
  ASSERT_TRUE(SqliteStore::open(folder / "h.db", with_extra_step("CREATE TABLE later (x)")));
  const auto store = open_sqlite(folder / "h.db");
  ASSERT_FALSE(store);
  expect_in(store.error().message, "newer Assay");
  auto db = Database::open(folder / "h.db");
  EXPECT_EQ(*db->number("SELECT count(*) FROM sqlite_master WHERE name = 'later'"), 1);
}

TEST(Schema, a_transaction_that_is_not_committed_leaves_nothing) {
  const TempFolder folder;
  auto db = Database::open(folder / "h.db");
  ASSERT_TRUE(migrate(*db, schema_steps()));
  {
    auto transaction = Transaction::write(*db);
    ASSERT_TRUE(
        db->run("INSERT INTO sessions (id, created_ns, record, app) VALUES ('x', 1, '{}', 'y')"));
  }
  EXPECT_EQ(*db->number("SELECT count(*) FROM sessions"), 0);
}

}  // namespace
}  // namespace assay::store
