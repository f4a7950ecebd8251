// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "process/wire.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace assay::launch {

struct Spawned {
  pid_t pid = 0;
  Stage stage = Stage::none;  ///< where it failed; then nothing of it is left
  int error = 0;
};

/// Forks the app and returns when it has become its own program, or has failed to. It is in a
/// session and in the control groups of its own, has all signals as a fresh program has them, and
/// is killed by the kernel when the caller dies. The caller must have one thread only.
Spawned spawn_app(const StartOrder& order);

/// Whether a process like this one can join the groups: a child tries and ends. 0, or the errno.
int try_to_join(const std::vector<std::string>& folders, bool unified);

}  // namespace assay::launch
