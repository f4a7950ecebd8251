// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <assay/cluster/trial_planner.h>
#include <assay/cluster/trial_runner.h>

namespace assay::cluster {

/// A choice that was not tried, since nodes say that it has no room.
struct Ruled {
  size_t choice = 0;  ///< index
  std::string reason = {};
};

/// All that the trials of one job told. What follows from it is in judge().
struct TrialReport {
  std::string trial = {};
  std::string kind = {};  ///< of the object
  std::string api_version = {};
  std::string name_space = {};
  std::string name = {};
  std::string resource = {};
  std::string unit = {};  ///< what is done in a second, in words of the user: "samples_per_second"
  Timestamp begun = {};
  Timestamp ended = {};
  bool interrupted = false;
  Question question = {};
  PlanLimits limits = {};
  std::vector<Choice> choices = {};
  std::vector<Ruled> ruled = {};
  std::vector<TrialResult> trials = {};
};

struct Judgement {
  Plan plan;
  std::vector<Law> laws;  ///< by kind
};
std::vector<Tried> tried_of(const TrialReport& report);
Judgement judge(const TrialReport& report);
/// Nothing was measured, and one of the choices may work all the same.
bool nothing_is_known(const TrialReport& report);

/// The answer first, then a table of choices, and how each kind scales.
std::string report_text(const TrialReport& report);
/// Everything, with what follows from it.
std::string report_json(const TrialReport& report);
/// The facts of what report_json() wrote.
Result<TrialReport> read_report(std::string_view json);
/// A few words for an annotation of the object, as JSON.
std::string report_annotation(const TrialReport& report);

/// Asks the planner, runs what it wants, and so on until it has enough or nothing is wanted any
/// more. An error: not even one could be tried.
Result<void> run_trials(TrialRunner& runner, const TrialWorld& world, TrialReport& report);

}  // namespace assay::cluster
