// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <assay/base/result.h>
#include <assay/cluster/trial_report.h>

namespace assay::cli {

/// Trials that nobody has made yet.
struct PlannedTrials {
  const cluster::TrialSource& source;
  const cluster::TrialReport& report;
  const cluster::TrialSettings& settings;
  std::string prometheus;  ///< its address; empty: none
};

/// What fixed_processes() found, as a warning.
std::string fixed_processes_text(const std::string& words);

/// What would be tried, for how long and by what it is measured, and the copy of the job for the
/// first trial; asks nobody. For a person, or as one JSON document.
Result<std::string> trial_preview(const PlannedTrials& planned, bool json);

}  // namespace assay::cli
