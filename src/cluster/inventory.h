// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "roots.h"
#include "tracker.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include <assay/base/mutex.h>
#include <assay/kubeapi/follower.h>

namespace assay::cluster {

/// What followers tell of a cluster's objects, in little memory. Thread-safe.
class Inventory {
 public:
  /// `gpu` is the resource by which the cluster counts GPUs.
  explicit Inventory(std::string gpu) : gpu_(std::move(gpu)) {}

  void take(kubeapi::Change<kubeapi::Pod> change);
  void take(kubeapi::Change<kubeapi::Node> change);
  /// Kinds of objects that stand between a pod and its job.
  enum class Middle : uint8_t { jobs, replica_sets, deployments, stateful_sets };
  void take(Middle which, kubeapi::Change<kubeapi::ObjectMeta> change);

  /// All of this moment; false until nodes and pods are there, for nothing must be forgotten
  /// because it has not been heard of yet.
  bool complete() const;
  /// Also what stands between; never, without the right to list it.
  bool knows_owners() const;
  Seen seen(Roots& roots) const;
  NodeNames node_names() const;

 private:
  struct PodEntry {
    std::string name_space, name, node;
    std::optional<kubeapi::Owner> owner;
    std::optional<Timestamp> started;
    kubeapi::PodPhase phase = kubeapi::PodPhase::unknown;
    bool host_network = false;
    std::string trial;
  };
  using Parent = std::optional<kubeapi::Owner>;
  struct Parents {
    std::unordered_map<std::string, Parent> by_uid = {};
    bool told = false;
  };
  /// Nothing: it is not known yet. Then, and where it is a guess, `clear` becomes false.
  std::optional<Parent> parent_of(const kubeapi::Owner& object, bool& clear) const
      ASSAY_REQUIRES(mutex_);

  const std::string gpu_;
  mutable Mutex mutex_;
  std::unordered_map<std::string, PodEntry> pods_ ASSAY_GUARDED_BY(mutex_);   ///< by uid
  std::unordered_map<std::string, SeenNode> nodes_ ASSAY_GUARDED_BY(mutex_);  ///< by name
  std::array<Parents, 4> between_ ASSAY_GUARDED_BY(mutex_);                   ///< by Middle
  bool has_pods_ ASSAY_GUARDED_BY(mutex_) = false;
  bool has_nodes_ ASSAY_GUARDED_BY(mutex_) = false;
};

}  // namespace assay::cluster
