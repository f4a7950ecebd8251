// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docker/engine.h"
#include "docker/log_pump.h"
#include "docker/run_group.h"

#include <memory>
#include <string>
#include <vector>

#include <assay/base/files.h>
#include <assay/launch/launcher.h>

namespace assay::launch {

/// What is known of a container that was just started.
struct StartedContainer {
  std::string id;
  pid_t pid = 0;  ///< 0: it has ended already
  std::optional<Timestamp> started;
  std::unique_ptr<LogPump> logs;
  std::optional<RunGroup> group;  ///< above its own
  /// Its own, where the engine had made them before the app began: a short app leaves no trace.
  probes::CgroupPaths groups_before;
  std::vector<NotMeasured> notes;
  std::optional<uint64_t> memory_limit;
};

/// A container of our own, watched from outside by its processes and control group. Removed on
/// release and on destruction.
Result<std::unique_ptr<RunningApp>> watch_container(const net::Endpoint& endpoint,
                                                    StartedContainer container);

/// From the code that engines report: 128 + n stands for a death by signal n, where an app would
/// not use such a code itself.
void set_exit_code(Exit& exit, int code);

}  // namespace assay::launch
