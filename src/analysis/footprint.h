// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "distribution.h"

#include <vector>

#include <assay/samples/records.h>

namespace assay::analysis {

/// The part of a run that counts.
struct Window {
  Timestamp from;
  Timestamp to;
  bool warmup_cut = false;      ///< a warm-up lies before `from`
  bool warmup_ignored = false;  ///< it was asked for, but lasts longer than the run

  Nanoseconds length() const { return to - from; }
};

/// From the end of the warm-up to the end of the run. A run without a recorded end (its profiler
/// was killed, or it still runs) ends with its last sample.
Window window_of(const RunRecord& run, const std::vector<Series>& recorded);

/// One line per metric of the catalogue that was measured in that scope, in the catalogue's order;
/// series that differ only in their labels are combined. `need` names whom Scope::need is about.
Lines scope_lines(const std::vector<Series>& recorded, Scope scope, const Window& window,
                  std::string_view need = "");

/// The same for each that ran beside the app, in the order they were declared.
std::vector<std::pair<std::string, Lines>> needs_of(const std::vector<Series>& recorded,
                                                    const Window& window);

/// scope_lines of the app, completed with the kernel's totals at exit and its high-water marks, and
/// with the power of the node.
Lines footprint_of(const RunRecord& run, const std::vector<Series>& recorded, const Window& window);

}  // namespace assay::analysis
