// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>

#include <assay/base/result.h>
#include <assay/kubeapi/client.h>

namespace assay::cluster {

/// Pods that look for a place.
struct RoomWanted {
  std::string resource = {};
  std::string node_label = {};
  std::string kind = {};  ///< the label's value; empty: any node will do
  double pods = 1;
  double each = 1;                     ///< of the resource
  std::set<std::string> avoided = {};  ///< nodes on which none of them may be
};

/// Whether the nodes that are ready have room for all of them at this moment, by what the pods
/// there request. Only the resource counts: the scheduler looks at the rest. An error: nobody
/// tells.
Result<bool> has_room(kubeapi::Client& client, const RoomWanted& wanted, net::Stopper& stopper);

/// Whether a quota refused one of so many pods only for what others use of it just then, by the API
/// server's words: "exceeded quota: lab, requested: cpu=2, used: cpu=3, limited: cpu=4".
bool quota_may_allow(std::string_view refusal, double pods);
/// What the scheduler lacks: {"cpu", "memory"} in "0/3 nodes are available: 1 Insufficient cpu, 2
/// Insufficient memory."
std::set<std::string> insufficient_in(std::string_view text);

}  // namespace assay::cluster
