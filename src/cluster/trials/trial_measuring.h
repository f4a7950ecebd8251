// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_pods.h"

#include <assay/cluster/trial_history.h>
#include <assay/cluster/trial_runner.h>

namespace assay::cluster {

/// Who knows what a trial did.
struct Witnesses {
  TrialPods& pods;
  promapi::Queries* queries;    ///< may be null
  const TrialHistory* history;  ///< may be null
};

/// Fills in what the pods of a result did between its begin and its end; one whose throughput
/// nobody knows is a failed one.
Result<void> measure_trial(const TrialSettings& settings, const Witnesses& witnesses,
                           TrialResult& result);

}  // namespace assay::cluster
