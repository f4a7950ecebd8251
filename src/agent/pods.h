// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "act/pod_limits.h"
#include "live_table.h"
#include "reports.h"

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>  // before Asio, which forgets it

#include <assay/agent/agent.h>
#include <assay/kubeapi/follower.h>

namespace assay::agent {

/// What is known of the pods of this node, and which container belongs to which.
class PodTable {
 public:
  void take(kubeapi::PodChange change);
  /// Adds to a container's identity what its pod tells; false when the pod is not known.
  bool name(AppIdentity& identity) const;
  size_t size() const { return pods_.size(); }

 private:
  std::unordered_map<std::string, kubeapi::Pod> pods_;  ///< by uid
};

/// Follows the pods of this node in a thread of its own and keeps a table of them, which is touched
/// only in the loop.
class Pods {
 public:
  /// Called in the loop when something has changed.
  using Changed = std::function<void()>;

  /// Null where there is no cluster, or none is wanted. The loop has to live longer.
  static Result<std::unique_ptr<Pods>> follow(const KubernetesSettings& settings,
                                              const std::string& hostname,
                                              boost::asio::io_context& loop, Changed changed,
                                              Tell tell);
  virtual ~Pods() = default;
  virtual const PodTable& table() const = 0;
  virtual PodLimits& limits() = 0;
};

/// Gives all apps the names that their pods have.
void name_apps(const PodTable& pods, LiveTable& table, Reports& reports);

}  // namespace assay::agent
