// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kubernetes/agent_client.h"

#include <functional>
#include <memory>

#include <assay/launch/jobs.h>

namespace assay::launch {

/// Starts each app as a Job on the agent's node. The Job of a start that failed, or that `waiting`
/// gave up, is deleted. An API server that is away while the app starts is waited for.
std::unique_ptr<Launcher> make_job_launcher(JobSettings settings, AgentPlace agent,
                                            Waiting waiting);

}  // namespace assay::launch
