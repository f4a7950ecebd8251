// SPDX-License-Identifier: Apache-2.0
#include "sqlite/schema.h"

#include <array>
#include <fmt/format.h>

namespace assay::store {
namespace {

constexpr int64_t kApplicationId = 0x41535359;  // "ASSY"

// Generated columns cost no bytes: they name parts of the JSON for those who search.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  created_ns INTEGER NOT NULL,
  record TEXT NOT NULL,                -- the session as JSON, without its runs
  app TEXT NOT NULL,                   -- namespace/name:version
  hostname TEXT AS (record ->> '$.device.hostname'),
  machine_id TEXT AS (record ->> '$.device.machine_id'),
  user TEXT AS (record ->> '$.user'),
  device TEXT AS (record -> '$.device'),
  labels TEXT AS (record -> '$.labels')
) WITHOUT ROWID;
CREATE INDEX sessions_by_time ON sessions (created_ns);

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,            -- from 1
  status TEXT NOT NULL,
  record TEXT NOT NULL,                -- the run as JSON
  writer_pid INTEGER,                  -- who is writing it; only while it runs
  writer_start INTEGER,                -- its start, in ticks since boot
  writer_boot TEXT,                    -- which boot
  target_index INTEGER AS (record ->> '$.target_index'),
  repeat_index INTEGER AS (record ->> '$.repeat_index'),
  started_ns INTEGER AS (record ->> '$.started_unix_ns'),
  ended_ns INTEGER AS (record ->> '$.ended_unix_ns'),
  limit_cpus REAL AS (record ->> '$.target.resources.cpus'),
  limit_memory_bytes INTEGER AS (record ->> '$.target.resources.memory_bytes'),
  limit_pids INTEGER AS (record ->> '$.target.resources.pids'),
  board TEXT AS (record -> '$.board'),
  UNIQUE (session_id, ordinal)
);
CREATE INDEX runs_being_written ON runs (session_id) WHERE status = 'running';

CREATE TABLE series (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,            -- the number used in blocks
  info TEXT NOT NULL,                  -- name, unit, kind, scope, source, labels as JSON
  name TEXT AS (info ->> '$.name'),
  PRIMARY KEY (run_id, ordinal)
) WITHOUT ROWID;

CREATE TABLE blocks (                  -- many samples each, well compressed
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  samples INTEGER NOT NULL,
  last_ns INTEGER NOT NULL,            -- time of the latest sample
  data BLOB NOT NULL
);
CREATE INDEX blocks_by_run ON blocks (run_id);

CREATE TABLE tail (                    -- what came since, one row per write
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  samples INTEGER NOT NULL,
  last_ns INTEGER NOT NULL,
  data BLOB NOT NULL
);
CREATE INDEX tail_by_run ON tail (run_id);

CREATE TABLE artifacts (               -- stacks, kernels and other files of a run
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  path TEXT,                           -- a file in the session's folder, or
  data BLOB                            -- the content itself
);
CREATE INDEX artifacts_by_run ON artifacts (run_id);
)sql";

/// A pid counts within one namespace only; rows of before are judged without it.
constexpr const char* kVersion2 = "ALTER TABLE runs ADD COLUMN writer_namespace INTEGER";

/// What belongs to no session.
constexpr const char* kVersion3 = R"sql(
CREATE TABLE documents (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  written_ns INTEGER NOT NULL,
  body TEXT NOT NULL,                  -- JSON
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE INDEX documents_by_time ON documents (kind, written_ns);
)sql";

constexpr std::array kSteps = {kVersion1, kVersion2, kVersion3};

Result<void> check_owner(Database& db, int64_t version) {
  ASSAY_TRY(const int64_t owner, db.number("PRAGMA application_id"));
  if (owner == kApplicationId) return {};
  ASSAY_TRY(const int64_t tables, db.number("SELECT count(*) FROM sqlite_master"));
  if (owner == 0 && version == 0 && tables == 0) return {};
  return bad_input(fmt::format(
      "{} is a database of another program: choose another file with --store", db.file().native()));
}

Result<void> apply(Database& db, std::span<const char* const> steps, size_t from) {
  for (const char* step : steps.subspan(from)) ASSAY_CHECK(db.run(step));
  const std::string mark = fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                       kApplicationId, steps.size());
  return db.run(mark.c_str());
}

}  // namespace

std::span<const char* const> schema_steps() {
  return kSteps;
}

Result<void> migrate(Database& db, std::span<const char* const> steps) {
  const auto wanted = static_cast<int64_t>(steps.size());
  ASSAY_TRY(int64_t version, db.number("PRAGMA user_version"));
  if (version >= wanted) ASSAY_CHECK(check_owner(db, version));
  if (version < wanted) {
    ASSAY_TRY(auto transaction, Transaction::write(db));
    // Another process may have been faster, or is half done until we have the lock.
    ASSAY_TRY(version, db.number("PRAGMA user_version"));
    ASSAY_CHECK(check_owner(db, version));
    if (version < wanted) ASSAY_CHECK(apply(db, steps, static_cast<size_t>(version)));
    ASSAY_CHECK(transaction.commit());
  }
  if (version <= wanted) return {};
  return refused(
      fmt::format("the history {} was written by a newer Assay (schema {}, this one knows {}): use "
                  "that one, or "
                  "choose another file with --store",
                  db.file().native(), version, wanted));
}

}  // namespace assay::store
