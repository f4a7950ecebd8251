// SPDX-License-Identifier: Apache-2.0
#include "inventory.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <assay/cluster/trial_manifest.h>

namespace assay::cluster {
namespace {

using kubeapi::Change;
using kubeapi::Owner;
using kubeapi::PodPhase;

/// As owner references name the kinds of Middle, in their order.
constexpr std::array<std::string_view, 4> kBetween = {"Job", "ReplicaSet", "Deployment",
                                                      "StatefulSet"};

/// Puts a change into a table, each object by its key.
template <class Table, class T, class Key, class Entry>
void apply(Table& table, Change<T>& change, Key key, Entry entry) {
  using Kind = typename Change<T>::Kind;
  if (change.kind == Kind::all) table.clear();
  for (auto& item : change.items) {
    if (change.kind == Kind::gone)
      table.erase(key(item));
    else
      table[key(item)] = entry(item);
  }
}

}  // namespace

void Inventory::take(Change<kubeapi::Pod> change) {
  const Lock lock(mutex_);
  apply(
      pods_, change, [](const kubeapi::Pod& pod) { return pod.uid; },
      [](kubeapi::Pod& pod) {
        const auto trial = pod.labels.find(kTrialLabel);
        return PodEntry{std::move(pod.name_space),
                        std::move(pod.name),
                        std::move(pod.node),
                        cluster::parent_of(pod.owners, pod.labels),
                        pod.started,
                        pod.phase,
                        pod.host_network,
                        trial == pod.labels.end() ? "" : std::move(trial->second)};
      });
  has_pods_ = true;
}

void Inventory::take(Change<kubeapi::Node> change) {
  const Lock lock(mutex_);
  apply(
      nodes_, change, [](const kubeapi::Node& node) { return node.name; },
      [this](kubeapi::Node& node) {
        SeenNode seen{.object = {kubeapi::nodes(), "", node.name, node.uid}};
        for (auto& [name, value] : node.labels)
          if (name.starts_with("nvidia.com/")) seen.gpu_labels[name] = value;
        const auto count = [&](const std::string& resource) {
          const auto at = node.capacity.find(resource);
          return at == node.capacity.end() ? 0 : at->second;
        };
        seen.gpu_count = count(gpu_);
        seen.cores_count = count("cpu");
        return seen;
      });
  has_nodes_ = true;
}

void Inventory::take(Middle which, Change<kubeapi::ObjectMeta> change) {
  const Lock lock(mutex_);
  auto& parents = between_.at(static_cast<size_t>(which));
  apply(
      parents.by_uid, change, [](const kubeapi::ObjectMeta& meta) { return meta.uid; },
      [](kubeapi::ObjectMeta& meta) { return cluster::parent_of(meta.owners, meta.labels); });
  parents.told = true;
}

bool Inventory::complete() const {
  const Lock lock(mutex_);
  return has_pods_ && has_nodes_;
}

bool Inventory::knows_owners() const {
  const Lock lock(mutex_);
  return std::all_of(between_.begin(), between_.end(), [](const Parents& p) { return p.told; });
}

NodeNames Inventory::node_names() const {
  const Lock lock(mutex_);
  NodeNames names;
  for (const auto& [name, node] : nodes_) names.insert(name);
  return names;
}

std::optional<Inventory::Parent> Inventory::parent_of(const Owner& object, bool& clear) const {
  if (object.kind == "Pod") {
    const auto pod = pods_.find(object.uid);
    if (pod != pods_.end()) return pod->second.owner;
    clear = false;
    return std::nullopt;
  }
  const auto kind = std::find(kBetween.begin(), kBetween.end(), object.kind);
  if (kind == kBetween.end()) return Parent();
  const auto& parents = between_.at(static_cast<size_t>(kind - kBetween.begin()));
  if (const auto at = parents.by_uid.find(object.uid); at != parents.by_uid.end())
    return at->second;
  clear = false;
  if (parents.told) return std::nullopt;
  return Parent();  // without the right to list them, owners are taken as they are
}

Seen Inventory::seen(Roots& roots) const {
  const Lock lock(mutex_);
  bool clear = true;
  const auto parent = [&](const Owner& object)
                          ASSAY_REQUIRES(mutex_) { return parent_of(object, clear); };
  Seen seen;
  for (const auto& [name, node] : nodes_) seen.nodes.push_back(node);
  seen.pods.reserve(pods_.size());
  for (const auto& [uid, pod] : pods_) {
    SeenPod entry{.object = {kubeapi::pods(), pod.name_space, pod.name, uid},
                  .node = pod.node,
                  .started = pod.started,
                  .over = pod.phase == PodPhase::succeeded || pod.phase == PodPhase::failed,
                  .failed = pod.phase == PodPhase::failed,
                  .host_network = pod.host_network,
                  .trial = pod.trial};
    clear = true;
    if (pod.owner) entry.job = roots.find(*pod.owner, pod.name_space, parent);
    // What is over is no work of any job.
    if (!clear && !entry.over) seen.unclear.insert(pod.name_space);
    seen.pods.push_back(std::move(entry));
  }
  return seen;
}

}  // namespace assay::cluster
