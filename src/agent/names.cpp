// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <array>
#include <fmt/format.h>
#include <initializer_list>
#include <nlohmann/json.hpp>

namespace assay::agent {
namespace {

using Json = nlohmann::json;

std::string text_at(const Json& json, std::initializer_list<const char*> path) {
  const Json* at = &json;
  for (const char* key : path) {
    if (!at->is_object() || !at->contains(key)) return "";
    at = &(*at)[key];
  }
  return at->is_string() ? at->get<std::string>() : "";
}

/// The first of the names that the map has.
std::string first_of(const std::map<std::string, std::string>& map,
                     std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = map.find(name);
    if (found != map.end()) return found->second;
  }
  return "";
}

constexpr size_t kMostLabels = 256;

void take_labels(const Json& json, AppIdentity& identity) {
  if (!json.is_object()) return;
  for (const auto& [name, value] : json.items()) {
    if (identity.labels.size() >= kMostLabels) return;
    if (value.is_string()) identity.labels[name] = value.get<std::string>();
  }
}

/// As the kubelet, containerd and CRI-O name them.
void take_pod(AppIdentity& identity) {
  const auto& labels = identity.labels;
  identity.pod = first_of(labels, {"io.kubernetes.pod.name", "io.kubernetes.cri.sandbox-name",
                                   "io.kubernetes.cri-o.KubeName"});
  identity.name_space =
      first_of(labels, {"io.kubernetes.pod.namespace", "io.kubernetes.cri.sandbox-namespace",
                        "io.kubernetes.cri-o.Namespace"});
  identity.container =
      first_of(labels, {"io.kubernetes.container.name", "io.kubernetes.cri.container-name"});
}

/// Where containerd keeps what it started a container with, and CRI-O and Podman.
constexpr std::array<const char*, 3> kConfigs = {
    "/run/containerd/io.containerd.runtime.v2.task/k8s.io/{}/config.json",
    "/run/containers/storage/overlay-containers/{}/userdata/config.json",
    "/var/lib/containers/storage/overlay-containers/{}/userdata/config.json"};
constexpr const char* kStorageList =
    "/var/lib/containers/storage/overlay-containers/containers.json";

void set_if_known(const std::string& text, std::string& place) {
  if (!text.empty()) place = text;
}

}  // namespace

bool take_docker_inspect(std::string_view body, AppIdentity& identity) {
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object() || text_at(json, {"Id"}).empty()) return false;
  std::string name = text_at(json, {"Name"});
  if (name.starts_with('/')) name.erase(0, 1);
  set_if_known(name, identity.name);
  set_if_known(text_at(json, {"Config", "Image"}), identity.image);
  if (json.contains("Config") && json["Config"].is_object() && json["Config"].contains("Labels"))
    take_labels(json["Config"]["Labels"], identity);
  take_pod(identity);
  return true;
}

bool take_oci_config(std::string_view text, AppIdentity& identity) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("annotations")) return false;
  take_labels(json["annotations"], identity);
  take_pod(identity);
  const std::string kind = first_of(
      identity.labels, {"io.kubernetes.cri.container-type", "io.kubernetes.cri-o.ContainerType"});
  if (kind == "sandbox") identity.container = "POD";
  set_if_known(
      first_of(identity.labels, {"io.kubernetes.cri.image-name", "io.kubernetes.cri-o.ImageName"}),
      identity.image);
  return true;
}

bool take_storage_list(std::string_view text, AppIdentity& identity) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_array()) return false;
  for (const auto& entry : json) {
    if (text_at(entry, {"id"}) != identity.group.id) continue;
    const Json own = Json::parse(text_at(entry, {"metadata"}), nullptr, false);
    set_if_known(text_at(own, {"name"}), identity.name);
    set_if_known(text_at(own, {"image-name"}), identity.image);
    return true;
  }
  return false;
}

bool take_files(const SysRoot& root, AppIdentity& identity) {
  bool known = false;
  for (const char* form : kConfigs) {
    const auto text = root.read(fmt::format(fmt::runtime(form), identity.group.id));
    known = text && take_oci_config(*text, identity);
    if (known) break;
  }
  if (const auto text = root.read(kStorageList))
    known = take_storage_list(*text, identity) || known;
  return known;
}

}  // namespace assay::agent
