// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sqlite/database.h"

#include <string>
#include <vector>

#include <assay/base/process_id.h>
#include <assay/samples/records.h>
#include <assay/store/store.h>

/// Sessions and runs as rows. Callers hold a transaction where they call more than one.
namespace assay::store {

Result<void> insert_session(Database& db, const SessionRecord& session);
/// `writer` is kept while the run is running.
Result<void> put_run_row(Database& db, const std::string& session_id, const RunRecord& run,
                         const ProcessId& writer);
Result<bool> has_session(Database& db, const std::string& id);
Result<SessionRecord> load_session(Database& db, const std::string& id);
Result<std::vector<Summary>> list_sessions(Database& db);

/// The whole id for a unique prefix or "last".
Result<std::string> resolve_session(Database& db, const std::string& id);
/// The row of a run.
Result<int64_t> find_run(Database& db, const std::string& session_id, int ordinal);

/// A run that is marked as running.
struct RunningRow {
  int64_t id = 0;
  std::string session_id;
  ProcessId writer;
};
Result<std::vector<RunningRow>> running_rows(Database& db);
/// The time of its start or of its last sample.
Result<Timestamp> last_sign(Database& db, const RunningRow& row);
/// Ends it at the time of its last sample.
Result<void> interrupt_run(Database& db, const RunningRow& row);

}  // namespace assay::store
