// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "footprint.h"

#include <string>

namespace assay::analysis {

/// One plain sentence without a subject: how the run ended when that is not by itself, what the app
/// needs (the p95 of its cores, or the mean where short bursts make that higher, and the peak of
/// its memory), and which goals it reached.
std::string answer_of(const RunRecord& run, const RunAnalysis& analysis, Nanoseconds duration);

}  // namespace assay::analysis
