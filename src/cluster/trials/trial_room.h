// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

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

}  // namespace assay::cluster
