// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kubernetes/job_watcher.h"

#include <memory>

#include <assay/launch/jobs.h>

namespace assay::launch {

/// Measured by its node's agent, which a thread asks once a second. The Job is deleted on release
/// and on destruction. Returns when the agent has seen the app, or does not within a few seconds.
/// A pod that the Job makes in place of the first one is another run, and not this one's.
Result<std::unique_ptr<RunningApp>> watch_job(StartedJob job);

}  // namespace assay::launch
