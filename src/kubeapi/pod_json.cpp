// SPDX-License-Identifier: Apache-2.0
#include "pod_json.h"

#include "json_at.h"

#include <nlohmann/json.hpp>

#include <assay/base/wording.h>

namespace assay::kubeapi {
namespace {

using Json = nlohmann::json;
using Kind = WatchEvent::Kind;

constexpr size_t kMostLabels = 256;
constexpr size_t kLongestLabel = 4096;
constexpr size_t kMostContainers = 256;
constexpr int kGone = 410;

std::map<std::string, std::string> read_labels(const Json& json) {
  std::map<std::string, std::string> labels;
  if (!json.is_object()) return labels;
  for (const auto& [name, value] : json.items()) {
    if (labels.size() == kMostLabels) break;
    if (!value.is_string() || value.get_ref<const std::string&>().size() > kLongestLabel) continue;
    labels.emplace(name, value.get<std::string>());
  }
  return labels;
}

void add_containers(const Json& statuses, Pod& pod) {
  if (!statuses.is_array()) return;
  for (const auto& status : statuses) {
    if (pod.containers.size() == kMostContainers) return;
    std::string id = text_at(status, "containerID");
    // "docker://4f2a…", "containerd://…"
    if (const size_t scheme = id.find("://"); scheme != id.npos) id.erase(0, scheme + 3);
    pod.containers.push_back({text_at(status, "name"), std::move(id), text_at(status, "image")});
  }
}

void add_owners(const Json& references, Pod& pod) {
  if (!references.is_array()) return;
  for (const auto& reference : references) {
    if (pod.owners.size() == kMostContainers) return;
    pod.owners.push_back(
        {text_at(reference, "kind"), text_at(reference, "name"), text_at(reference, "uid")});
  }
}

/// One without a name or uid is none.
Pod read_pod(const Json& json) {
  const Json& metadata = at(json, "metadata");
  Pod pod;
  pod.name = text_at(metadata, "name");
  pod.name_space = text_at(metadata, "namespace");
  pod.uid = text_at(metadata, "uid");
  pod.node = text_at(at(json, "spec"), "nodeName");
  pod.labels = read_labels(at(metadata, "labels"));
  pod.annotations = read_labels(at(metadata, "annotations"));
  const Json& status = at(json, "status");
  for (const char* kind :
       {"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"})
    add_containers(at(status, kind), pod);
  add_owners(at(metadata, "ownerReferences"), pod);
  return pod;
}

bool is_pod(const Pod& pod) {
  return !pod.name.empty() && !pod.uid.empty();
}

std::string message_in(const Json& status) {
  const std::string message = text_at(status, "message");
  return message.empty() ? "" : in_quotes(message);
}

Result<WatchEvent> read_failure(const Json& status) {
  const Json& code = at(status, "code");
  if (code.is_number_integer() && code.get<int64_t>() == kGone)
    return WatchEvent{.kind = Kind::expired};
  return WatchEvent{.kind = Kind::failed, .message = message_in(status)};
}

}  // namespace

Result<PodPage> read_page(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  const Json& items = at(json, "items");
  const Json& metadata = at(json, "metadata");
  PodPage page{.pods = {},
               .version = text_at(metadata, "resourceVersion"),
               .next = text_at(metadata, "continue")};
  // A list without pods has no items in some versions.
  if (page.version.empty() || !(items.is_array() || items.is_null()))
    return refused("the API server's answer is no list of pods");
  for (const auto& item : items) {
    Pod pod = read_pod(item);
    if (is_pod(pod)) page.pods.push_back(std::move(pod));
  }
  return page;
}

Result<WatchEvent> read_event(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  const std::string type = text_at(json, "type");
  const Json& object = at(json, "object");
  if (type == "ERROR") return read_failure(object);
  WatchEvent event;
  event.version = text_at(at(object, "metadata"), "resourceVersion");
  if (event.version.empty()) return refused("the API server's answer is no watch of pods");
  if (type == "BOOKMARK") return event;
  if (type != "ADDED" && type != "MODIFIED" && type != "DELETED")
    return refused("the API server's answer is no watch of pods");
  event.kind = type == "DELETED" ? Kind::gone : Kind::set;
  event.pod = read_pod(object);
  if (!is_pod(event.pod)) return refused("the API server's watch has something that is no pod");
  return event;
}

std::string message_of(std::string_view status) {
  return message_in(Json::parse(status, nullptr, false));
}

}  // namespace assay::kubeapi
