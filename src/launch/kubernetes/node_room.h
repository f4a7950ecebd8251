// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <assay/kubeapi/objects.h>
#include <assay/launch/jobs.h>

namespace assay::launch {

/// What one node has to have for the Jobs of these targets, which run one after the other: the most
/// that any of them asks for.
kubeapi::Amounts asked_of(const std::vector<Target>& targets, const JobSettings& settings);

/// Whether an amount is what is asked for, or more: sums of tenths of cores are not exact.
bool is_enough(double there, double asked);

/// Whether a node could ever give that, whatever else runs there now: by what it tells as
/// allocatable, less what those of the pods ask for that DaemonSets have made, which stay as long
/// as the node. One that tells nothing could.
bool could_hold(const kubeapi::Node& node, const std::vector<kubeapi::Pod>& pods,
                const kubeapi::Amounts& asked);

/// What is asked for, and what the largest of these nodes has, when none of them could hold it.
/// There is at least one; `which` tells what else they have in common, as " with board=orin".
std::string room_told(const std::vector<const kubeapi::Node*>& nodes,
                      const std::vector<kubeapi::Pod>& pods, const kubeapi::Amounts& asked,
                      const std::string& which);

}  // namespace assay::launch
