// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>

namespace assay::collect {

/// A part of this machine that stands for a device of its own.
struct Share {
  std::vector<int> cpus = {};  ///< sorted; empty: all that we may run on
  double quota = 0;            ///< cores' worth of CPU time; 0: all of those

  bool whole() const { return cpus.empty() && quota == 0; }
};

/// "0-2,5"; an error for one that we may not run on.
Result<std::vector<int>> parse_cpus(const std::string& text);
/// All that this process may run on.
std::vector<int> own_cpus();
/// What the device has, in cores.
double cores_of(const Share& share);

/// Which of the two processes this is.
struct Inside {
  /// Set in the process that stayed outside, once the other has ended: its exit code.
  std::optional<int> ended = std::nullopt;
};

/// Goes on in a new process that is confined to the share, with all that it starts; the caller
/// waits there for its end, hands on signals that would end it, and removes what was made. Returns
/// in both, like fork(), and at once in the one when the share is the whole machine. The caller
/// must have one thread only.
Result<Inside> enter(const Share& share);

}  // namespace assay::collect
