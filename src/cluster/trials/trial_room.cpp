// SPDX-License-Identifier: Apache-2.0
#include "trial_room.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <vector>

#include <assay/kubeapi/follower.h>

namespace assay::cluster {
namespace {

/// For more nodes than these, one list of all pods is less than one for each of them.
constexpr size_t kFewNodes = 20;
constexpr size_t kMostObjects = 200'000;
constexpr size_t kPage = 500;

using Room = std::map<std::string, double>;  ///< what is free, by nodes

/// Takes away what the pods there ask for.
Result<void> take_pods(kubeapi::Client& client, const std::string& node,
                       const std::string& resource, Room& room, net::Stopper& stopper) {
  kubeapi::Query query{.resource = kubeapi::pods(),
                       .fields = "status.phase!=Succeeded,status.phase!=Failed",
                       .page = kPage,
                       .most = kMostObjects};
  if (!node.empty()) query.fields = fmt::format("spec.nodeName={},{}", node, query.fields);
  ASSAY_TRY(const auto pods, kubeapi::list<kubeapi::Pod>(client, query, stopper));
  if (!pods) return refused("nobody tells of pods");
  for (const auto& pod : pods->items)
    if (const auto on = room.find(pod.node); on != room.end())
      on->second -= kubeapi::requested_of(pod, resource);
  return {};
}

/// What the node could ever give; 0: it does not count.
double amount_of(const kubeapi::Node& node, const RoomWanted& wanted) {
  const auto label = node.labels.find(wanted.node_label);
  const bool fits =
      wanted.kind.empty() || (label != node.labels.end() && label->second == wanted.kind);
  const auto amount = node.allocatable.find(wanted.resource);
  if (!fits || !node.ready || node.unschedulable || amount == node.allocatable.end() ||
      wanted.avoided.contains(node.name))
    return 0;
  return amount->second;
}

}  // namespace

Result<bool> has_room(kubeapi::Client& client, const RoomWanted& wanted, net::Stopper& stopper) {
  if (wanted.resource != "cpu" && wanted.resource.find('/') == std::string::npos)
    return refused(fmt::format("what pods have of {} is not counted", wanted.resource));
  ASSAY_TRY(
      const auto nodes,
      kubeapi::list<kubeapi::Node>(
          client, {.resource = kubeapi::nodes(), .page = kPage, .most = kMostObjects}, stopper));
  if (!nodes) return refused("nobody tells of nodes");
  Room room;
  for (const auto& node : nodes->items)
    if (const double amount = amount_of(node, wanted); amount >= wanted.each)
      room[node.name] = amount;
  const bool at_once = room.size() > kFewNodes;
  if (at_once) ASSAY_CHECK(take_pods(client, "", wanted.resource, room, stopper));
  double places = 0;
  for (const auto& [name, amount] : room) {
    if (!at_once) ASSAY_CHECK(take_pods(client, name, wanted.resource, room, stopper));
    places += std::floor(std::max(0.0, amount) / wanted.each + 1e-9);
    if (places >= wanted.pods) return true;
  }
  return false;
}

}  // namespace assay::cluster
