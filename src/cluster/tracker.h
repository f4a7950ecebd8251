// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "state.h"

#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace assay::cluster {

/// What Kubernetes says of a node.
struct SeenNode {
  kubeapi::ObjectName object = {};
  std::map<std::string, std::string> gpu_labels = {};
  double gpu_count = 0;
  double cores_count = 0;
};

/// And of a pod.
struct SeenPod {
  kubeapi::ObjectName object = {};
  std::string node = {};
  std::optional<kubeapi::ObjectName> job = {};  ///< to which it belongs in the end
  std::optional<Timestamp> started = {};        ///< by its node's clock; nothing: it waits
  bool over = false;
  bool failed = false;        ///< it is over, and not as it should be
  bool host_network = false;  ///< what is measured of its network is its node's
  std::string trial = {};     ///< of which it is part of a copy; empty: of none
};

/// The objects of a cluster at one moment.
struct Seen {
  std::vector<SeenNode> nodes = {};
  std::vector<SeenPod> pods = {};
  /// Namespaces with pods of which it cannot be told whose they are, as what is above them was not
  /// heard of yet or may not be listed.
  std::set<std::string> unclear = {};
};

/// Keeps what nodes, pods and jobs use, from round to round. Asks nobody. One thread at a time.
class Tracker {
 public:
  /// `round` is the time from one update to the next.
  explicit Tracker(Nanoseconds round) : round_(round) {}

  void update(const Seen& seen, const Reading& reading, Timestamp now);
  /// Looks for patterns in a part of all nodes and pods, and in the jobs of these, in turn: the
  /// whole cluster has been looked at after `turns` calls.
  void look(size_t turns);

  /// As the history has it: what it used before, too. `beside`: while others kept the history, it
  /// was followed here as well; whoever saw more of it is right. A node or a pod has to be there,
  /// with the same uid.
  void restore(JobState job, bool beside = false);
  void restore(const NodeState& node, bool beside = false);
  void restore(const PodRecord& pod, bool beside = false);
  /// Jobs that were deleted long ago are only in the history.
  void forget_gone(Timestamp before);

  std::map<std::string, NodeState>& nodes() { return nodes_; }         ///< by name
  std::unordered_map<std::string, PodState>& pods() { return pods_; }  ///< by uid
  std::unordered_map<std::string, JobState>& jobs() { return jobs_; }  ///< by uid
  /// Jobs whose last worker failed, and that Kubernetes may give another one, by uid; first those
  /// that were not asked about it for longest. As of the last update.
  std::vector<std::string> unsure_jobs() const;
  /// Pods of no job that are gone since this was last asked.
  std::vector<PodRecord> take_gone();

 private:
  struct Together;

  void update_nodes(const Seen& seen, const Reading& reading, Timestamp now);
  void update_pods(const Seen& seen, const Reading& reading, Timestamp now);
  /// What the cluster says of a pod, used or not.
  PodState& meet(const SeenPod& pod, Timestamp now);
  void meet_job(const SeenPod& pod, Timestamp now);
  /// Pods that are no longer there.
  void forget_left(Nanoseconds window, Timestamp now);
  void update_pod_gpus(const Reading& reading);
  void update_jobs(Timestamp now);
  /// Jobs that have workers.
  std::unordered_map<std::string, Together> together(Timestamp now) const;
  static void update_job(JobState& job, const Together& together, Timestamp now);
  /// Whether a pod's GPUs were told of in this round, also when it has none.
  bool gpus_known(const PodState& pod, Timestamp now) const;
  /// Those without a worker that may get one in place of the last, which failed.
  std::unordered_set<std::string> retried_jobs(Timestamp now) const;
  void look_at(NodeState& node) const;
  void look_at(PodState& pod);
  void look_at(JobState& job, const std::vector<const PodState*>& workers) const;

  const Nanoseconds round_;
  std::map<std::string, NodeState> nodes_;
  std::unordered_map<std::string, PodState> pods_;
  std::unordered_map<std::string, JobState> jobs_;
  std::map<PodKey, std::string> uids_;
  std::map<PodKey, Timestamp> left_;  ///< when pods of that name went, as long as rates have them
  std::vector<PodRecord> gone_;
  std::vector<std::string> unsure_;
  Timestamp updated_ = {};
  Nanoseconds window_{0};  ///< that rates were means of in the last update
  size_t turn_ = 0;
  bool gpus_told_ = false;   ///< in this round
  bool users_told_ = false;  ///< of GPUs: not all who tell of GPUs say whose they are
};

}  // namespace assay::cluster
