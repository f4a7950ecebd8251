// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/kubeapi/client.h>
#include <assay/launch/jobs.h>

namespace assay::launch {

/// What the choice of a node rests on.
struct NodeOffer {
  std::vector<kubeapi::Node> nodes = {};       ///< that have the labels
  std::vector<kubeapi::PodState> agents = {};  ///< of the cluster
  std::string only = {};                   ///< where set, the agent that is asked is on this one
  std::vector<kubeapi::Pod> pods = {};     ///< that use the nodes; empty: not known
  std::vector<kubeapi::Node> others = {};  ///< where none has the labels, those there are
};

struct ChosenNode {
  std::string node;
  std::string agent;  ///< its agent's pod; empty: it is asked elsewhere
};

using Nodes = std::vector<const kubeapi::Node*>;

/// Those of the offer that are ready, not kept for others by a taint, and have an agent that is
/// ready, for all of these targets. An error says what is missing and how to get it.
Result<Nodes> suitable_nodes(const NodeOffer& offer, const std::vector<Target>& targets,
                             const JobSettings& settings);

/// One of them, at least one, that could hold any of the targets, and has enough free cores and
/// GPUs for it if any has; of several the one with the fewest pods, then the first by name. An
/// error says what none of them could ever hold.
Result<ChosenNode> choose_node(const Nodes& suitable, const NodeOffer& offer,
                               const std::vector<Target>& targets, const JobSettings& settings);

/// Whether a node that was chosen for others would do for this target too.
bool can_take(const kubeapi::Node& node, const NodeOffer& offer, const Target& target,
              const JobSettings& settings);

/// What the cluster knows of a node, from its object as JSON.
Device device_of(std::string_view node);
void add_capacity(const kubeapi::Node& node, Device& device);

/// The nodes that take pods, by the values of a label that fit a pattern.
std::vector<NodeKind> kinds_of(const std::vector<kubeapi::Node>& nodes, const std::string& label,
                               const std::string& pattern);

/// Which values of a label nodes have, or else which labels, in words.
std::string labels_told(const std::vector<kubeapi::Node>& nodes, const std::string& label);

/// "a=b,c=d".
std::string selector_text(const std::map<std::string, std::string>& labels);

}  // namespace assay::launch
