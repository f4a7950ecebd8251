// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/kubeapi/access.h>
#include <assay/kubeapi/objects.h>
#include <assay/launch/launcher.h>

namespace assay::launch {

/// The cluster that runs apps as Jobs, and how its agents are reached.
struct JobSettings {
  kubeapi::Access access = {};
  std::string name_space = "default";
  std::map<std::string, std::string> node_selector = {};
  std::string gpu_resource = "nvidia.com/gpu";
  /// Where the agents are: pods of a DaemonSet, asked by way of the API server ...
  std::string agent_namespace = "assay";
  std::string agent_label = "app.kubernetes.io/name=assay-agent";
  int agent_port = 9410;
  std::string agent_url = {};  ///< ... or one of them directly, "http://10.0.0.7:9410"
  /// What they want to see; empty: the cluster's secret assay-reader, where we may read it.
  std::string agent_token = {};
  std::string agent_token_file = {};  ///< that it was read from, for messages
  Milliseconds agent_patience{5000};  ///< for one answer of an agent
  /// The nodes' folder in which the agent's socket for self-reported metrics is, mounted at
  /// /metrics; empty: nothing is mounted.
  std::string hooks_folder = "/run/assay";
  Nanoseconds start_patience = std::chrono::minutes(5);  ///< for a node, and for the image
  /// For an account that may not look at its pod any more; the server that comes back may say so
  /// for a moment too.
  Nanoseconds refusal_patience = std::chrono::minutes(1);
};

/// The nodes of one kind, as a label tells it.
struct NodeKind {
  std::string name;  ///< the label's value
  std::vector<std::string> nodes;
};

/// A cluster's Jobs, each one run of an app on the one node that this object has chosen: what is
/// compared was on one machine. Used from one thread, but for what the apps do themselves.
class Jobs {
 public:
  virtual ~Jobs() = default;
  /// From now on, what is asked of the cluster is given up when `waiting` says so, but for what
  /// creates or removes something.
  virtual void while_wanted(Waiting waiting) = 0;
  /// "Kubernetes at https://10.0.0.1:6443".
  virtual std::string engine() const = 0;
  /// What stands in the way of the target's Job. The first call chooses the node: one with the
  /// labels asked for, that is ready, has an agent, could hold what is asked for, and has as many
  /// free cores and GPUs if any has; of several the one with the fewest pods. One that could not
  /// hold the target of a later call is given up for one that could hold all until then; where none
  /// could, only that target is refused. What the cluster and its agents are asked for this is
  /// asked once for all targets, also when there is no answer.
  virtual std::vector<Obstacle> obstacles(const Target& target) = 0;
  /// The chosen node; empty before.
  virtual const std::string& node() const = 0;
  /// What that node is, as far as the cluster knows.
  virtual const Device& device() const = 0;
  /// For when all targets were looked at.
  virtual std::unique_ptr<Launcher> launcher() = 0;
  /// Kinds of nodes that could be chosen, by the label's values that fit the pattern ("*" and "?").
  virtual Result<std::vector<NodeKind>> kinds(const std::string& label,
                                              const std::string& pattern) = 0;
  /// What to choose from instead, in words: "nodes have board=orin, rpi4", or which labels there
  /// are.
  virtual Result<std::string> told_apart_by(const std::string& label) = 0;
  /// Removes Jobs that dead sessions of this machine left behind, and only those. One line each.
  virtual Result<std::vector<std::string>> clean_up() = 0;
};

/// Asks nobody yet.
std::shared_ptr<Jobs> open_jobs(JobSettings settings);
/// For a plan that nobody carries out: knows what stands in the way of a target in any cluster, and
/// asks none.
std::shared_ptr<Jobs> plan_jobs(JobSettings settings);

}  // namespace assay::launch
