// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spawn.h>

namespace assay {

/// What posix_spawn is to do to the descriptors of a new process; frees itself.
struct SpawnActions {
  SpawnActions() { ::posix_spawn_file_actions_init(&value); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&value); }
  posix_spawn_file_actions_t value{};
};

}  // namespace assay
