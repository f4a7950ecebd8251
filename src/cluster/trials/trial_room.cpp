// SPDX-License-Identifier: Apache-2.0
#include "trial_room.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/kubeapi/follower.h>
#include <assay/kubeapi/json_at.h>
#include <assay/kubeapi/quantity.h>

namespace assay::cluster {
namespace {

using kubeapi::at;
using Json = nlohmann::json;

/// Each costs a request.
constexpr size_t kMostNodes = 50;

double requested_by(const Json& container, const std::string& resource) {
  const Json& amount = at(at(at(container, "resources"), "requests"), resource.c_str());
  if (amount.is_number()) return amount.get<double>();
  return amount.is_string() ? kubeapi::parse_quantity(amount.get<std::string>()).value_or(0) : 0;
}

/// As the scheduler counts: its containers together, or more while it is prepared.
double requested_by_pod(const Json& pod, const std::string& resource) {
  const Json& spec = at(pod, "spec");
  double together = 0;
  double preparing = 0;
  if (const Json& all = at(spec, "containers"); all.is_array())
    for (const auto& one : all) together += requested_by(one, resource);
  if (const Json& all = at(spec, "initContainers"); all.is_array())
    for (const auto& one : all) preparing = std::max(preparing, requested_by(one, resource));
  return std::max(together, preparing);
}

Result<double> requested_on(kubeapi::Client& client, const std::string& node,
                            const std::string& resource, net::Stopper& stopper) {
  const std::string fields =
      fmt::format("spec.nodeName={},status.phase!=Succeeded,status.phase!=Failed", node);
  ASSAY_TRY(const net::Response response,
            client.call({.path = fmt::format("{}?fieldSelector={}",
                                             kubeapi::collection_path(kubeapi::pods(), ""),
                                             net::url_encoded(fields))},
                        stopper));
  if (response.status == 403)
    return refused("your account may not list the pods of all namespaces");
  if (!response.ok())
    return refused(fmt::format("the API server answers with status {}", response.status));
  const Json json = Json::parse(response.body, nullptr, false);
  double sum = 0;
  if (const Json& items = at(json, "items"); items.is_array())
    for (const auto& pod : items) sum += requested_by_pod(pod, resource);
  return sum;
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
  ASSAY_TRY(const auto nodes,
            kubeapi::list<kubeapi::Node>(client, {.resource = kubeapi::nodes()}, stopper));
  if (!nodes) return refused("nobody tells of nodes");
  double places = 0;
  size_t asked = 0;
  for (const auto& node : nodes->items) {
    const double amount = amount_of(node, wanted);
    if (amount < wanted.each || asked == kMostNodes) continue;
    ++asked;
    ASSAY_TRY(const double requested, requested_on(client, node.name, wanted.resource, stopper));
    places += std::floor(std::max(0.0, amount - requested) / wanted.each + 1e-9);
    if (places >= wanted.pods) return true;
  }
  return false;
}

}  // namespace assay::cluster
