// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <assay/kubeapi/client.h>
#include <assay/launch/jobs.h>

namespace assay::launch {

/// The pod that is a node's agent and is ready; null: none is. Points into `agents`.
const kubeapi::PodState* agent_on(const std::vector<kubeapi::PodState>& agents,
                                  const std::string& node);

/// Why none of these nodes has an agent that is ready, and what to do: what state the pod of one of
/// them is in, or that there is none, with one that no node has yet and that may be meant for them.
std::string no_agent_told(const std::vector<kubeapi::PodState>& agents,
                          const std::vector<std::string>& nodes, const JobSettings& settings);

/// "n1, n2 and 3 more".
std::string names_told(std::vector<std::string> names);

}  // namespace assay::launch
