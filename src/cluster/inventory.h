// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "roots.h"
#include "tracker.h"

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
  enum class Middle : uint8_t { jobs, replica_sets };
  void take(Middle which, kubeapi::Change<kubeapi::ObjectMeta> change);

  /// All of this moment; false until nodes and pods are there, for nothing must be forgotten
  /// because it has not been heard of yet.
  bool complete() const;
  Seen seen(Roots& roots) const;
  NodeNames node_names() const;

 private:
  struct PodEntry {
    std::string name_space, name, node;
    std::optional<kubeapi::Owner> owner;
    bool over = false;
  };
  using Parents = std::unordered_map<std::string, std::optional<kubeapi::Owner>>;  ///< by uid

  const std::string gpu_;
  mutable Mutex mutex_;
  std::unordered_map<std::string, PodEntry> pods_ ASSAY_GUARDED_BY(mutex_);   ///< by uid
  std::unordered_map<std::string, SeenNode> nodes_ ASSAY_GUARDED_BY(mutex_);  ///< by name
  Parents jobs_ ASSAY_GUARDED_BY(mutex_);
  Parents replica_sets_ ASSAY_GUARDED_BY(mutex_);
  bool has_pods_ ASSAY_GUARDED_BY(mutex_) = false;
  bool has_nodes_ ASSAY_GUARDED_BY(mutex_) = false;
  bool has_jobs_ ASSAY_GUARDED_BY(mutex_) = false;
  bool has_replica_sets_ ASSAY_GUARDED_BY(mutex_) = false;
};

}  // namespace assay::cluster
