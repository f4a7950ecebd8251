// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

#include <assay/base/files.h>

namespace assay::store {

/// A process, told apart from later ones that get the same pid.
struct Writer {
  int64_t pid = 0;
  int64_t start_ticks = 0;  ///< since boot; 0: not known
  std::string boot;         ///< empty: not known
};

Writer describe_process(const SysRoot& root, pid_t pid);
/// False when it has ended, also as a zombie, or the machine has been started anew since.
bool is_alive(const SysRoot& root, const Writer& writer);

}  // namespace assay::store
