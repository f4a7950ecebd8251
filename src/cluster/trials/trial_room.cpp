// SPDX-License-Identifier: Apache-2.0
#include "trial_room.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <vector>

#include <assay/base/text.h>
#include <assay/kubeapi/follower.h>
#include <assay/kubeapi/quantity.h>

namespace assay::cluster {
namespace {

/// For more nodes than these, one list of all pods is less than one for each of them.
constexpr size_t kFewNodes = 20;
constexpr size_t kMostObjects = 200'000;
constexpr size_t kPage = 500;

using Room = std::map<std::string, double, std::less<>>;  ///< what is free, by nodes

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

/// "requested: cpu=2,memory=1Gi," -> amounts
Room amounts_behind(std::string_view text, std::string_view word) {
  Room amounts;
  const size_t at = text.find(word);
  if (at == text.npos) return amounts;
  text.remove_prefix(at + word.size());
  text = trim(text);
  for (std::string_view rest = text.substr(0, text.find_first_of(" ;'")); !rest.empty();) {
    std::string_view amount = next_field(rest, ',');
    const std::string_view name = next_field(amount, '=');
    if (const auto value = kubeapi::parse_quantity(amount)) amounts[std::string(name)] = *value;
  }
  return amounts;
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

bool quota_may_allow(std::string_view refusal, double pods) {
  const Room requested = amounts_behind(refusal, "requested:");
  const Room limited = amounts_behind(refusal, "limited:");
  return !requested.empty() &&
         std::all_of(requested.begin(), requested.end(), [&](const auto& one) {
           const auto most = limited.find(one.first);
           return most != limited.end() && pods * one.second <= most->second;
         });
}

std::set<std::string> insufficient_in(std::string_view text) {
  constexpr std::string_view kWord = "Insufficient ";
  std::set<std::string> all;
  for (size_t at = text.find(kWord); at != text.npos; at = text.find(kWord)) {
    text.remove_prefix(at + kWord.size());
    std::string_view name = text.substr(0, text.find_first_of(" ,;'"));
    while (name.ends_with('.')) name.remove_suffix(1);
    all.emplace(name);
  }
  return all;
}

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
