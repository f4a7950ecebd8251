// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "process/owner.h"

#include <string>
#include <vector>

#include <assay/launch/jobs.h>

namespace assay::launch {

/// By these a Job is known to be ours. An owner's text is too long for a label.
inline constexpr const char* kJobSessionLabel = "assay.dev/session";
inline constexpr const char* kJobRunLabel = "assay.dev/run";
inline constexpr const char* kJobOwnerAnnotation = "assay.dev/owner";
inline constexpr const char* kJobMachineAnnotation = "assay.dev/machine";

/// "assay-SESSION-RUN".
std::string job_name(const std::string& session_id, int run);
/// A selector of the run's pods.
std::string job_selector(const std::string& session_id, int run);

/// What of a target no Job can have, by key of the spec.
std::vector<Obstacle> job_obstacles(const Target& target, const JobSettings& settings);

/// How many GPUs the target wants; 0 where it does not say.
uint64_t wanted_gpus(const Target& target);

/// The Job of one run, to be created: tried once, on that node alone, and ended by the cluster
/// itself when nobody does.
Json job_manifest(const Request& request, const JobSettings& settings, const std::string& node,
                  const Owner& owner, const std::string& machine);

}  // namespace assay::launch
