// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "advice.h"

#include <string>

namespace assay::analysis {

/// One plain sentence without a subject: how the run ended when that is not by itself, what the app
/// needs (the p95 of its cores, or the mean where short bursts make that higher, and the peak of
/// its memory), and which goals it reached. Where the app could not get the cores it asked for,
/// what it got is not called its need.
std::string answer_of(const Facts& facts);

}  // namespace assay::analysis
