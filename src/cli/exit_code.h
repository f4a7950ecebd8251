// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/base/result.h>
#include <assay/report/report.h>

namespace assay::cli {

inline constexpr int kDone = 0;
inline constexpr int kBadInput = 2;
inline constexpr int kAppFailed = 3;
inline constexpr int kRefused = 4;
inline constexpr int kGoalMissed = 99;
inline constexpr int kInterrupted = 130;

int exit_code(const Error& error);
/// The worst of all runs: refused, then failed, then a goal missed, then done.
int exit_code(const report::SessionView& view);
/// Interrupted is the worst, then refused, bad input, failed, a goal missed, done.
int worse_code(int a, int b);

}  // namespace assay::cli
