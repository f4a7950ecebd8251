// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include <assay/base/wording.h>
#include <assay/kubeapi/objects.h>
#include <assay/net/http_client.h>

namespace assay::kubeapi {
namespace {

constexpr size_t kLongestName = 253;

/// Dots alone would lead to another place.
bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName && name != "." && name != ".." &&
         name.find_first_of("/%") == name.npos;
}

Failure no_name(const ObjectName& object, const std::string& name) {
  return bad_input(
      fmt::format("{} cannot be the name of one of {}", in_quotes(name), object.resource.name()));
}

}  // namespace

std::string Resource::api_version() const {
  return group.empty() ? version : group + "/" + version;
}

std::string Resource::name() const {
  return group.empty() ? plural : plural + "." + group;
}

Resource pods() {
  return {.plural = "pods", .kind = "Pod"};
}
Resource nodes() {
  return {.plural = "nodes", .kind = "Node", .namespaced = false};
}
Resource jobs() {
  return {.group = "batch", .plural = "jobs", .kind = "Job"};
}
Resource leases() {
  return {.group = "coordination.k8s.io", .plural = "leases", .kind = "Lease"};
}

std::string collection_path(const Resource& resource, const std::string& name_space) {
  const bool within = resource.namespaced && !name_space.empty();
  return fmt::format("{}/{}{}{}/{}", resource.group.empty() ? "/api" : "/apis",
                     net::url_encoded(resource.api_version(), "/"), within ? "/namespaces/" : "",
                     within ? net::url_encoded(name_space) : "", net::url_encoded(resource.plural));
}

Result<std::string> object_path(const ObjectName& object) {
  if (!is_name(object.name)) return no_name(object, object.name);
  if (object.resource.namespaced && !is_name(object.name_space))
    return no_name(object, object.name_space + "/" + object.name);
  return collection_path(object.resource, object.name_space) + "/" + net::url_encoded(object.name);
}

const Owner* maker_of(const std::vector<Owner>& owners) {
  const auto controller = std::find_if(owners.begin(), owners.end(),
                                       [](const Owner& owner) { return owner.controller; });
  if (controller != owners.end()) return &*controller;
  return owners.empty() ? nullptr : &owners.front();
}

double requested_of(const Pod& pod, const std::string& resource) {
  double together = 0;
  double preparing = 0;
  for (const auto& container : pod.containers) {
    const auto found = container.extended.find(resource);
    const double extended = found == container.extended.end() ? 0 : found->second;
    const double amount = resource == "cpu" ? container.cores : extended;
    if (container.prepares) {
      preparing = std::max(preparing, amount);
    } else {
      together += amount;
    }
  }
  return std::max(together, preparing);
}

}  // namespace assay::kubeapi
