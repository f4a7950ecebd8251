// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "state.h"

#include <string>

#include <assay/base/result.h>

namespace assay::cluster {

/// Jobs, pods and nodes as the history keeps them, in JSON. What is no such document is an error.
std::string job_document(const JobState& job);
std::string pod_document(const PodRecord& pod);
std::string node_document(const NodeState& node);
Result<JobState> parse_job(const std::string& document);
Result<PodRecord> parse_pod(const std::string& document);
/// Of a GPU only what it used, and which one it is.
Result<NodeState> parse_node(const std::string& document);

}  // namespace assay::cluster
