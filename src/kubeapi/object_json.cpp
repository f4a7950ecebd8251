// SPDX-License-Identifier: Apache-2.0
#include "object_json.h"

#include "resize_patch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include <assay/kubeapi/json_at.h>

namespace assay::kubeapi {
namespace {

using Json = nlohmann::json;

/// Of annotations a job may have as many as it has workers.
constexpr size_t kMostEntries = 4096;
constexpr size_t kLongestLabel = 4096;
constexpr size_t kMostContainers = 256;
/// A copy of the whole object that kubectl keeps, and that nobody else reads.
constexpr std::string_view kCopy = "kubectl.kubernetes.io/last-applied-configuration";

std::map<std::string, std::string> read_labels(const Json& json) {
  std::map<std::string, std::string> labels;
  if (!json.is_object()) return labels;
  for (const auto& [name, value] : json.items()) {
    if (labels.size() == kMostEntries) break;
    if (!value.is_string() || value.get_ref<const std::string&>().size() > kLongestLabel) continue;
    if (name != kCopy) labels.emplace(name, value.get<std::string>());
  }
  return labels;
}

std::vector<Owner> read_owners(const Json& references) {
  std::vector<Owner> owners;
  if (!references.is_array()) return owners;
  for (const auto& reference : references) {
    if (owners.size() == kMostContainers) break;
    const Json& controls = at(reference, "controller");
    owners.push_back({.kind = text_at(reference, "kind"),
                      .name = text_at(reference, "name"),
                      .uid = text_at(reference, "uid"),
                      .api_version = text_at(reference, "apiVersion"),
                      .controller = controls.is_boolean() && controls.get<bool>()});
  }
  return owners;
}

/// "4", "16Gi", or a bare number.
std::optional<double> amount_of(const Json& json) {
  const auto amount = json.is_number()   ? std::optional(json.get<double>())
                      : json.is_string() ? parse_quantity(json.get_ref<const std::string&>())
                                         : std::nullopt;
  return amount && std::isfinite(*amount) ? amount : std::nullopt;
}

Amounts read_amounts(const Json& json, bool only_extended) {
  Amounts amounts;
  if (!json.is_object()) return amounts;
  for (const auto& [name, value] : json.items()) {
    if (amounts.size() == kMostEntries) break;
    if (only_extended && name.find('/') == name.npos) continue;
    if (const auto amount = amount_of(value)) amounts.emplace(name, *amount);
  }
  return amounts;
}

void add_statuses(const Json& statuses, bool prepare, Pod& pod) {
  if (!statuses.is_array()) return;
  for (const auto& status : statuses) {
    if (pod.containers.size() == kMostContainers) return;
    std::string id = text_at(status, "containerID");
    // "docker://4f2a…", "containerd://…"
    if (const size_t scheme = id.find("://"); scheme != id.npos) id.erase(0, scheme + 3);
    pod.containers.push_back({.name = text_at(status, "name"),
                              .id = std::move(id),
                              .image = text_at(status, "image"),
                              .prepares = prepare});
  }
}

/// Before its node knows a pod, its containers are only in the spec.
PodContainer* container_of(const Json& spec, Pod& pod) {
  std::string name = text_at(spec, "name");
  const auto found = std::find_if(pod.containers.begin(), pod.containers.end(),
                                  [&](const auto& one) { return one.name == name; });
  if (found != pod.containers.end()) return &*found;
  if (name.empty() || pod.containers.size() == kMostContainers) return nullptr;
  pod.containers.push_back({.name = std::move(name), .image = text_at(spec, "image")});
  return &pod.containers.back();
}

void add_specs(const Json& specs, bool prepare, Pod& pod) {
  if (!specs.is_array()) return;
  for (const auto& spec : specs) {
    PodContainer* const container = container_of(spec, pod);
    if (container == nullptr) continue;
    // One that is always started again runs beside the others.
    container->prepares = prepare && text_at(spec, "restartPolicy") != "Always";
    const Json& resources = at(spec, "resources");
    // Of such resources a container gets what it asks for, neither more nor less.
    container->extended = read_amounts(at(resources, "limits"), true);
    container->extended.merge(read_amounts(at(resources, "requests"), true));
    container->cores = amount_of(at(at(resources, "requests"), "cpu")).value_or(0);
  }
}

/// When a container began; nothing: it waits.
std::optional<Timestamp> beginning_of(const Json& container) {
  const Json& state = at(container, "state");
  const auto running = parse_utc(text_at(at(state, "running"), "startedAt"));
  return running ? running : parse_utc(text_at(at(state, "terminated"), "startedAt"));
}

/// The node takes a pod before it has its images, which may take minutes.
std::optional<Timestamp> start_of(const Json& status, PodPhase phase) {
  std::optional<Timestamp> first;
  bool restarted = false;
  for (const char* kind : {"initContainerStatuses", "containerStatuses"}) {
    const Json& containers = at(status, kind);
    if (!containers.is_array()) continue;
    for (const auto& container : containers) {
      const auto began = beginning_of(container);
      if (began && (!first || *began < *first)) first = began;
      const Json& restarts = at(container, "restartCount");
      restarted = restarted || (restarts.is_number() && restarts.get<double>() > 0);
    }
  }
  const bool told = first || phase == PodPhase::pending;
  return told && !restarted ? first : parse_utc(text_at(status, "startTime"));
}

PodPhase phase_of(const std::string& text) {
  constexpr std::array<std::string_view, 5> kWords = {"Unknown", "Pending", "Running", "Succeeded",
                                                      "Failed"};
  const auto found = std::find(kWords.begin(), kWords.end(), text);
  return found == kWords.end() ? PodPhase::unknown : static_cast<PodPhase>(found - kWords.begin());
}

std::vector<Taint> read_taints(const Json& json) {
  std::vector<Taint> taints;
  if (!json.is_array()) return taints;
  for (const auto& taint : json) {
    if (taints.size() == kMostEntries) break;
    taints.push_back({text_at(taint, "key"), text_at(taint, "effect")});
  }
  return taints;
}

bool is_true(const Json& conditions, std::string_view type) {
  return conditions.is_array() &&
         std::any_of(conditions.begin(), conditions.end(), [&](const Json& condition) {
           return text_at(condition, "type") == type && text_at(condition, "status") == "True";
         });
}

}  // namespace

ObjectMeta read_meta(const Json& object) {
  const Json& metadata = at(object, "metadata");
  return {.name = text_at(metadata, "name"),
          .name_space = text_at(metadata, "namespace"),
          .uid = text_at(metadata, "uid"),
          .version = text_at(metadata, "resourceVersion"),
          .labels = read_labels(at(metadata, "labels")),
          .annotations = read_labels(at(metadata, "annotations")),
          .owners = read_owners(at(metadata, "ownerReferences")),
          .created = parse_utc(text_at(metadata, "creationTimestamp")),
          .deleted = parse_utc(text_at(metadata, "deletionTimestamp"))};
}

Pod read_pod(const Json& object) {
  ObjectMeta meta = read_meta(object);
  const Json& spec = at(object, "spec");
  const Json& status = at(object, "status");
  const Json& host_network = at(spec, "hostNetwork");
  const PodPhase phase = phase_of(text_at(status, "phase"));
  Pod pod{.name = std::move(meta.name),
          .name_space = std::move(meta.name_space),
          .uid = std::move(meta.uid),
          .node = text_at(spec, "nodeName"),
          .labels = std::move(meta.labels),
          .annotations = std::move(meta.annotations),
          .owners = std::move(meta.owners),
          .version = std::move(meta.version),
          .phase = phase,
          .host_network = host_network.is_boolean() && host_network.get<bool>(),
          .created = meta.created,
          .started = start_of(status, phase),
          .deleted = meta.deleted};
  add_statuses(at(status, "containerStatuses"), false, pod);
  add_statuses(at(status, "initContainerStatuses"), true, pod);
  add_statuses(at(status, "ephemeralContainerStatuses"), false, pod);
  add_specs(at(spec, "containers"), false, pod);
  add_specs(at(spec, "initContainers"), true, pod);
  pod.containers.shrink_to_fit();
  return pod;
}

Node read_node(const Json& object) {
  ObjectMeta meta = read_meta(object);
  const Json& status = at(object, "status");
  const Json& off = at(at(object, "spec"), "unschedulable");
  return {.name = std::move(meta.name),
          .uid = std::move(meta.uid),
          .version = std::move(meta.version),
          .labels = std::move(meta.labels),
          .annotations = std::move(meta.annotations),
          .capacity = read_amounts(at(status, "capacity"), false),
          .allocatable = read_amounts(at(status, "allocatable"), false),
          .ready = is_true(at(status, "conditions"), "Ready"),
          .unschedulable = off.is_boolean() && off.get<bool>(),
          .taints = read_taints(at(at(object, "spec"), "taints"))};
}

Result<ObjectMeta> read_object(std::string_view text) {
  ObjectMeta meta = read_meta(Json::parse(text, nullptr, false));
  if (meta.name.empty() || meta.uid.empty())
    return refused("what the API server answers is no object");
  return meta;
}

std::set<std::string> owned_annotations(const Json& object, const std::string& manager) {
  std::set<std::string> owned;
  const Json& books = at(at(object, "metadata"), "managedFields");
  if (!books.is_array()) return owned;
  for (const auto& book : books) {
    if (text_at(book, "manager") != manager) continue;
    const Json& fields = at(at(at(book, "fieldsV1"), "f:metadata"), "f:annotations");
    if (!fields.is_object()) continue;
    for (const auto& [name, ignored] : fields.items())
      if (name.starts_with("f:")) owned.insert(name.substr(2));
  }
  return owned;
}

}  // namespace assay::kubeapi
