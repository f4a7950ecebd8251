// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kubernetes/agent_client.h"
#include "kubernetes/job_pod.h"

#include <memory>

#include <assay/kubeapi/writes.h>
#include <assay/launch/jobs.h>

namespace assay::launch {

/// A Job whose pod has started.
struct StartedJob {
  JobSettings settings = {};
  kubeapi::ObjectName job = {};
  std::string selector = {};  ///< of its pod
  AgentPlace agent = {};
  JobPod pod = {};
  Request request = {};
};

/// The pod of a selector, newest first.
Result<JobPod> find_job_pod(kubeapi::Client& client, const std::string& name_space,
                            const std::string& selector, net::Stopper& stopper);

/// Measured by its node's agent, which a thread asks once a second. The Job is deleted on release
/// and on destruction. Returns when the agent has seen the app, or does not within a few seconds.
Result<std::unique_ptr<RunningApp>> watch_job(StartedJob job);

}  // namespace assay::launch
