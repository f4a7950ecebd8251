// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/samples/records.h>
#include <assay/store/store.h>

namespace assay::session {

/// The label of a session whose runs are those of a trial in a cluster.
constexpr const char* kTrialOf = "trial";

/// What a session is of.
struct NewSession {
  App app = {};
  Device device = {};
  std::map<std::string, std::string> labels = {};  ///< secrets in them are masked
  std::filesystem::path sessions_folder = {};      ///< in which it gets a folder
  int planned_runs = 0;
};

/// Adds a session without runs to the history, and makes its folder. For those who start and
/// measure their runs by themselves; run_session() does all of it.
Result<SessionRecord> add_session(store::Store& store, const NewSession& session,
                                  const Clock& clock);
/// After its last run: writes what follows from it into its folder, beside the session itself.
Result<void> write_session(store::Store& store, const SessionRecord& session);

}  // namespace assay::session
