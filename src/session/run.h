// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include <assay/base/time.h>
#include <assay/launch/launcher.h>
#include <assay/session/session.h>
#include <assay/store/store.h>

namespace assay::session {

struct Supplies;

/// Everything one run needs from its session; must outlive the run.
struct RunContext {
  const Options& options;
  Listener& listener;
  store::Store& store;
  const Clock& clock;
  std::string session_id;
  std::filesystem::path folder;              ///< of the session
  int runs = 0;                              ///< of the session
  launch::Containers* containers = nullptr;  ///< none: the app is a process
  launch::Jobs* jobs = nullptr;              ///< where set, the app runs on a node of a cluster
  const Supplies* supplies = nullptr;        ///< none: attached to what has its own
  std::string lock_note = {};                ///< why other sessions may run beside this one
};

/// How a run ended beyond what its record says.
struct RunEnd {
  bool interrupted = false;      ///< the user asked to stop: no further run is wanted
  std::optional<Error> trouble;  ///< storing failed
};

using Start = std::function<Result<std::unique_ptr<launch::RunningApp>>(const launch::Request&)>;

/// Starts the app, samples it until it ends, and keeps everything in the store. `record` comes with
/// its ordinal, indices and target filled in, and leaves complete. `target` has the secrets that
/// the record's own target hides. An app that cannot be started is a failed run, not an error.
RunEnd run_one(const RunContext& context, const Target& target, const Start& start, bool attached,
               RunRecord& record);

}  // namespace assay::session
