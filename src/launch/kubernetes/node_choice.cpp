// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/node_choice.h"

#include "kubernetes/agent_pods.h"
#include "kubernetes/job_manifest.h"
#include "kubernetes/node_room.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>
#include <iterator>
#include <set>

#include <assay/kubeapi/json_at.h>

namespace assay::launch {
namespace {

using kubeapi::at;
using kubeapi::text_at;

using Plain = nlohmann::json;

constexpr size_t kMostValues = 8;

using Targets = std::vector<Target>;

bool takes_pods(const kubeapi::Node& node) {
  return node.ready && !node.unschedulable;
}

/// By which a node keeps a target's Job away; empty: it does not.
std::string taint_of(const kubeapi::Node& node, const Targets& targets,
                     const JobSettings& settings) {
  const bool for_gpus =
      !targets.empty() && std::all_of(targets.begin(), targets.end(),
                                      [](const Target& target) { return wanted_gpus(target) > 0; });
  for (const auto& taint : node.taints) {
    const bool tolerated = taint.key == settings.gpu_resource && for_gpus;
    if (!tolerated && taint.effect != "PreferNoSchedule") return taint.key;
  }
  return "";
}

std::vector<std::string> names_of(const Nodes& nodes) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const auto* node : nodes) names.push_back(node->name);
  return names;
}

std::string with_labels(const JobSettings& settings) {
  if (settings.node_selector.empty()) return "";
  return fmt::format(" with {}", selector_text(settings.node_selector));
}

/// "a, b and 3 more".
std::string first_of(const std::set<std::string>& words) {
  const size_t more = words.size() > kMostValues ? words.size() - kMostValues : 0;
  const std::vector<std::string> first(words.begin(),
                                       std::prev(words.end(), static_cast<std::ptrdiff_t>(more)));
  return fmt::format("{}{}", fmt::join(first, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

/// Of the first of the labels that no node fits.
std::string labels_told(const std::vector<kubeapi::Node>& nodes,
                        const std::map<std::string, std::string>& wanted) {
  for (const auto& one : wanted) {
    const bool fits = std::any_of(nodes.begin(), nodes.end(), [&](const kubeapi::Node& node) {
      const auto found = node.labels.find(one.first);
      return found != node.labels.end() && found->second == one.second;
    });
    if (!fits) return launch::labels_told(nodes, one.first);
  }
  return nodes.empty() ? "see `kubectl get nodes`" : "each label is there, but not on one node";
}

double free_of(const kubeapi::Node& node, const NodeOffer& offer, const std::string& resource) {
  const auto there = node.allocatable.find(resource);
  double free = there == node.allocatable.end() ? 0 : there->second;
  for (const auto& pod : offer.pods) {
    const bool over =
        pod.phase == kubeapi::PodPhase::succeeded || pod.phase == kubeapi::PodPhase::failed;
    if (pod.node == node.name && !over) free -= kubeapi::requested_of(pod, resource);
  }
  return free;
}

std::ptrdiff_t pods_on(const kubeapi::Node& node, const NodeOffer& offer) {
  return std::count_if(offer.pods.begin(), offer.pods.end(),
                       [&](const kubeapi::Pod& pod) { return pod.node == node.name; });
}

/// Those that take the targets' pods.
Result<Nodes> able_nodes(const NodeOffer& offer, const Targets& targets,
                         const JobSettings& settings) {
  if (offer.nodes.empty())
    return bad_input(fmt::format("the cluster has no node{}; {}", with_labels(settings),
                                 labels_told(offer.others, settings.node_selector)));
  Nodes able;
  const kubeapi::Node* kept = nullptr;
  for (const auto& node : offer.nodes) {
    if (!takes_pods(node)) continue;
    if (taint_of(node, targets, settings).empty()) {
      able.push_back(&node);
    } else {
      kept = &node;
    }
  }
  if (!able.empty()) return able;
  if (kept == nullptr)
    return refused(fmt::format("no node{} is ready and takes pods; see `kubectl get nodes`",
                               with_labels(settings)));
  return refused(
      fmt::format("no node{} takes pods of everybody: {} is kept for others by its taint "
                  "{}",
                  with_labels(settings), kept->name, taint_of(*kept, targets, settings)));
}

bool is_watched(const kubeapi::Node& node, const NodeOffer& offer, const JobSettings& settings) {
  if (settings.agent_url.empty()) return agent_on(offer.agents, node.name) != nullptr;
  return offer.only.empty() || offer.only == node.name;
}

/// Those of them that an agent measures.
Result<Nodes> watched_nodes(const Nodes& able, const NodeOffer& offer,
                            const JobSettings& settings) {
  Nodes watched;
  for (const auto* node : able)
    if (is_watched(*node, offer, settings)) watched.push_back(node);
  if (!watched.empty()) return watched;
  if (!settings.agent_url.empty())
    return bad_input(fmt::format("the agent at {} is on {}, and not on {}", settings.agent_url,
                                 offer.only, names_told(names_of(able))));
  return refused(no_agent_told(offer.agents, names_of(able), settings));
}

/// Why a node that is not suitable is none.
std::string why_not(const kubeapi::Node& node, const Targets& targets,
                    const JobSettings& settings) {
  if (!takes_pods(node)) return node.ready ? "takes no pods" : "is not ready";
  const std::string taint = taint_of(node, targets, settings);
  if (!taint.empty()) return "is kept for others by its taint " + taint;
  return settings.agent_url.empty() ? "has no agent of Assay that is ready"
                                    : "is not that of the agent at " + settings.agent_url;
}

/// When no suitable node could hold what is asked for: another one may.
std::string what_to_do(const NodeOffer& offer, const Targets& targets,
                       const JobSettings& settings) {
  const auto asked = asked_of(targets, settings);
  for (const auto& node : offer.nodes)
    if (could_hold(node, offer.pods, asked))
      return fmt::format("ask for less, or see to {}, which is large enough but {}", node.name,
                         why_not(node, targets, settings));
  return settings.node_selector.empty() ? "ask for less, or add a larger node"
                                        : "ask for less, or for other nodes (--node-selector)";
}

}  // namespace

std::string labels_told(const std::vector<kubeapi::Node>& nodes, const std::string& label) {
  std::set<std::string> values;
  std::set<std::string> labels;
  for (const auto& node : nodes) {
    if (const auto found = node.labels.find(label); found != node.labels.end())
      values.insert(found->second);
    // Each node has its own, which tells no kinds apart.
    for (const auto& [name, value] : node.labels)
      if (name != "kubernetes.io/hostname") labels.insert(name);
  }
  if (!values.empty()) return fmt::format("nodes have {}={}", label, first_of(values));
  if (labels.empty()) return "see `kubectl get nodes`";
  return fmt::format("nodes have the labels {}", first_of(labels));
}

std::string selector_text(const std::map<std::string, std::string>& labels) {
  std::string text;
  for (const auto& [name, value] : labels)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
  return text;
}

bool can_take(const kubeapi::Node& node, const NodeOffer& offer, const Target& target,
              const JobSettings& settings) {
  return taint_of(node, {target}, settings).empty() &&
         could_hold(node, offer.pods, asked_of({target}, settings));
}

Result<Nodes> suitable_nodes(const NodeOffer& offer, const Targets& targets,
                             const JobSettings& settings) {
  ASSAY_TRY(const Nodes able, able_nodes(offer, targets, settings));
  return watched_nodes(able, offer, settings);
}

Result<ChosenNode> choose_node(const Nodes& suitable, const NodeOffer& offer,
                               const Targets& targets, const JobSettings& settings) {
  const auto asked = asked_of(targets, settings);
  Nodes large;
  for (const auto* node : suitable)
    if (could_hold(*node, offer.pods, asked)) large.push_back(node);
  if (large.empty())
    return refused(fmt::format("{}; {}",
                               room_told(suitable, offer.pods, asked, with_labels(settings)),
                               what_to_do(offer, targets, settings)));
  const auto rank = [&](const kubeapi::Node* node) {
    const bool full = std::any_of(asked.begin(), asked.end(), [&](const auto& one) {
      return !is_enough(free_of(*node, offer, one.first), one.second);
    });
    return std::tuple(full, pods_on(*node, offer), node->name);
  };
  const auto* best = *std::min_element(large.begin(), large.end(),
                                       [&](auto* a, auto* b) { return rank(a) < rank(b); });
  const auto* agent = settings.agent_url.empty() ? agent_on(offer.agents, best->name) : nullptr;
  return ChosenNode{best->name, agent == nullptr ? "" : agent->name};
}

Device device_of(std::string_view node) {
  const Plain json = Plain::parse(node, nullptr, false);
  const Plain& metadata = at(json, "metadata");
  const Plain& info = at(at(json, "status"), "nodeInfo");
  const Plain& labels = at(metadata, "labels");
  Device device;
  device.hostname = text_at(metadata, "name");
  device.machine_id = text_at(info, "machineID");
  device.architecture = text_at(info, "architecture");
  device.os = text_at(info, "osImage");
  device.kernel = text_at(info, "kernelVersion");
  for (const char* label : {"nvidia.com/gpu.product", "node.kubernetes.io/instance-type"})
    if (device.model.empty()) device.model = text_at(labels, label);
  return device;
}

void add_capacity(const kubeapi::Node& node, Device& device) {
  const auto amount = [&](const char* name) {
    const auto found = node.capacity.find(name);
    return found == node.capacity.end() ? 0 : found->second;
  };
  device.cores = static_cast<int>(amount("cpu"));
  device.memory_bytes = static_cast<uint64_t>(amount("memory"));
}

std::vector<NodeKind> kinds_of(const std::vector<kubeapi::Node>& nodes, const std::string& label,
                               const std::string& pattern) {
  std::map<std::string, NodeKind> kinds;
  for (const auto& node : nodes) {
    const auto value = node.labels.find(label);
    if (value == node.labels.end() || !takes_pods(node)) continue;
    if (::fnmatch(pattern.c_str(), value->second.c_str(), 0) != 0) continue;
    NodeKind& kind = kinds[value->second];
    kind.name = value->second;
    kind.nodes.push_back(node.name);
  }
  std::vector<NodeKind> all;
  all.reserve(kinds.size());
  for (auto& [name, kind] : kinds) all.push_back(std::move(kind));
  return all;
}

}  // namespace assay::launch
