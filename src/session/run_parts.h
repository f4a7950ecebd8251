// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "live_table.h"
#include "run.h"
#include "socket_folder.h"
#include "supplies.h"

#include <memory>
#include <optional>
#include <vector>

#include <assay/hooks/server.h>
#include <assay/store/recorder.h>

namespace assay::session {

/// The parts that live as long as the run, in the order they are made.
struct Parts {
  std::unique_ptr<store::Recorder> recorder;
  std::unique_ptr<LiveTable> table;
  std::unique_ptr<SocketFolder> socket_folder;
  std::unique_ptr<hooks::Server> hooks;
  std::unique_ptr<launch::Needs> needs;
  std::optional<RunSupplies> supplies;
  std::vector<NotMeasured> gaps;
};

/// All but what is started for the app. A run without hooks is worth more than no run: what is
/// missing is said.
Parts make_parts(const RunContext& context, const Target& target, const RunRecord& record,
                 bool attached);
/// Starts what the app needs beside it and plays its data.
Result<void> add_supplies(const RunContext& context, const Target& target, const RunRecord& record,
                          Parts& parts);
/// What the launcher is to start among these parts.
launch::Request request_for(const RunContext& context, const Target& target,
                            const RunRecord& record, const Parts& parts);
/// After the app.
void stop_needs(const RunContext& context, const Target& target, Parts& parts, RunRecord& record,
                RunEnd& end);

}  // namespace assay::session
