// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include <assay/analysis/series_analysis.h>

namespace assay::analysis {

/// When something will be reached if all goes on as it did.
struct Outlook {
  double per_second = 0;
  double seconds = 0;  ///< from the last value
  double soonest = 0;  ///< four of five times it is between these
  double latest = 0;
};

/// Of a level, say memory, that grows steadily, until it is at `limit`. Nothing: it does not grow,
/// or not for certain, or not within a month.
std::optional<Outlook> time_to_limit(const EvenSeries& level, double limit);

/// A number that a job reported of itself: how many steps it has done.
struct StepReport {
  double time = 0;  ///< in seconds
  double step = 0;
};

/// Until all steps are done, at the pace of the last ones. A count that fell is a job that was
/// started again: only what follows counts. Nothing: fewer than three reports, no step forward, or
/// all done already.
std::optional<Outlook> time_to_finish(std::span<const StepReport> reports, double all);

}  // namespace assay::analysis
