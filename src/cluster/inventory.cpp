// SPDX-License-Identifier: Apache-2.0
#include "inventory.h"

#include <algorithm>
#include <utility>

namespace assay::cluster {
namespace {

using kubeapi::Change;
using kubeapi::Owner;

std::optional<Owner> controller_of(std::vector<Owner>& owners) {
  for (auto& owner : owners)
    if (owner.controller) return std::move(owner);
  return std::nullopt;
}

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
        const bool over =
            pod.phase == kubeapi::PodPhase::succeeded || pod.phase == kubeapi::PodPhase::failed;
        return PodEntry{std::move(pod.name_space), std::move(pod.name), std::move(pod.node),
                        controller_of(pod.owners), over};
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
        const auto count = node.capacity.find(gpu_);
        seen.gpu_count = count == node.capacity.end() ? 0 : count->second;
        return seen;
      });
  has_nodes_ = true;
}

void Inventory::take(Middle which, Change<kubeapi::ObjectMeta> change) {
  const Lock lock(mutex_);
  (which == Middle::jobs ? has_jobs_ : has_replica_sets_) = true;
  apply(
      which == Middle::jobs ? jobs_ : replica_sets_, change,
      [](const kubeapi::ObjectMeta& meta) { return meta.uid; },
      [](kubeapi::ObjectMeta& meta) { return controller_of(meta.owners); });
}

bool Inventory::complete() const {
  const Lock lock(mutex_);
  return has_pods_ && has_nodes_;
}

NodeNames Inventory::node_names() const {
  const Lock lock(mutex_);
  NodeNames names;
  for (const auto& [name, node] : nodes_) names.insert(name);
  return names;
}

Seen Inventory::seen(Roots& roots) const {
  const Lock lock(mutex_);
  using Parent = std::optional<Owner>;
  const auto parent_of = [this](const std::string& uid)
                             ASSAY_REQUIRES(mutex_) -> std::optional<Parent> {
    for (const auto* table : {&jobs_, &replica_sets_})
      if (const auto at = table->find(uid); at != table->end()) return at->second;
    // Without the right to list them, owners are taken as they are.
    return has_jobs_ && has_replica_sets_ ? std::nullopt : std::optional(Parent());
  };
  Seen seen;
  for (const auto& [name, node] : nodes_) seen.nodes.push_back(node);
  seen.pods.reserve(pods_.size());
  for (const auto& [uid, pod] : pods_) {
    SeenPod entry{.object = {kubeapi::pods(), pod.name_space, pod.name, uid},
                  .node = pod.node,
                  .over = pod.over};
    if (pod.owner) entry.job = roots.find(*pod.owner, pod.name_space, parent_of);
    seen.pods.push_back(std::move(entry));
  }
  return seen;
}

}  // namespace assay::cluster
