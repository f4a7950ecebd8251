// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "state.h"

#include <assay/analysis/job_kind.h>

namespace assay::cluster {

/// Tells of which kind of job a pod is, by what it used; its rates are means of `window_seconds`.
void tell_kind(const PodSeries& series, double step_seconds, double window_seconds,
               Findings& found);
/// Takes what was found. A kind that was told before stays until another one is clearly likelier,
/// with the evidence by which it was told.
void take_kind(const analysis::JobKindFinding& finding, Findings& found);

}  // namespace assay::cluster
