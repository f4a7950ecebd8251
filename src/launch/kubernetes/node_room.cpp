// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/node_room.h"

#include "kubernetes/job_manifest.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

using kubeapi::Amounts;
using kubeapi::Node;

using Nodes = std::vector<const Node*>;
using Pods = std::vector<kubeapi::Pod>;

bool is_of_daemon(const kubeapi::Pod& pod) {
  const auto* const maker = kubeapi::maker_of(pod.owners);
  const bool over =
      pod.phase == kubeapi::PodPhase::succeeded || pod.phase == kubeapi::PodPhase::failed;
  return maker != nullptr && maker->kind == "DaemonSet" && !over && !pod.deleted;
}

double kept_by_daemons(const Node& node, const Pods& pods, const std::string& resource) {
  double kept = 0;
  for (const auto& pod : pods)
    if (pod.node == node.name && is_of_daemon(pod)) kept += kubeapi::requested_of(pod, resource);
  return kept;
}

double amount_of(const Node& node, const Pods& pods, const std::string& resource) {
  const auto found = node.allocatable.find(resource);
  return found == node.allocatable.end() ? 0
                                         : found->second - kept_by_daemons(node, pods, resource);
}

bool has_enough(const Node& node, const Pods& pods, const std::string& resource, double asked) {
  return is_enough(amount_of(node, pods, resource), asked);
}

/// Also thousandths, in which a cluster counts cores: 3.92 of them are less than 3.925.
std::string told(const std::string& resource, double amount) {
  if (resource == "memory") return format_bytes(amount);
  return fmt::format("{:.10g}", amount);
}

/// As it is asked for on the command line.
std::string option_of(const std::string& resource, double amount) {
  const char* const name = resource == "cpu" ? "cpus" : resource == "memory" ? "memory" : "gpus";
  return fmt::format("--{} {}", name, told(resource, amount));
}

/// "8 GB", and where both would be the same words, "8 000 000 000 B".
std::string told_beside(const std::string& resource, double amount, double asked) {
  const std::string text = told(resource, amount);
  return text != told(resource, asked)
             ? text
             : fmt::format("{:.0f} B, which is less than {:.0f} B", amount, asked);
}

/// "the largest of 3 suitable nodes, pole-3, has 4".
std::string largest_told(const Nodes& nodes, const Pods& pods, const std::string& resource,
                         double asked, const std::string& which) {
  const Node& largest = **std::max_element(nodes.begin(), nodes.end(), [&](auto* a, auto* b) {
    return amount_of(*a, pods, resource) < amount_of(*b, pods, resource);
  });
  const double most = amount_of(largest, pods, resource);
  if (most <= 0 && nodes.size() > 1)
    return fmt::format("none of {} suitable nodes{} has any {}", nodes.size(), which, resource);
  const std::string who = nodes.size() == 1
                              ? fmt::format("the only suitable node{}, {},", which, largest.name)
                              : fmt::format("the largest of {} suitable nodes{}, {},", nodes.size(),
                                            which, largest.name);
  return fmt::format("{} has {}{}", who,
                     most <= 0 ? "no " + resource : told_beside(resource, most, asked),
                     kept_by_daemons(largest, pods, resource) > 0 ? " beside its DaemonSets" : "");
}

}  // namespace

Amounts asked_of(const std::vector<Target>& targets, const JobSettings& settings) {
  Amounts asked;
  const auto ask = [&](const std::string& resource, double amount) {
    if (amount > 0) asked[resource] = std::max(asked[resource], amount);
  };
  for (const auto& target : targets) {
    ask("cpu", target.limits.cpus.value_or(0));
    ask("memory", static_cast<double>(target.limits.memory_bytes.value_or(0)));
    ask(settings.gpu_resource, static_cast<double>(wanted_gpus(target)));
  }
  return asked;
}

bool is_enough(double there, double asked) {
  constexpr double kNothing = 1e-6;  // the cluster counts in thousandths
  return there + kNothing >= asked;
}

bool could_hold(const Node& node, const Pods& pods, const Amounts& asked) {
  return node.allocatable.empty() || std::all_of(asked.begin(), asked.end(), [&](const auto& one) {
           return has_enough(node, pods, one.first, one.second);
         });
}

std::string room_told(const Nodes& nodes, const Pods& pods, const Amounts& asked,
                      const std::string& which) {
  std::string all;
  for (const auto& one : asked) {
    const auto& [resource, amount] = one;
    const bool lacks = std::none_of(nodes.begin(), nodes.end(), [&](const Node* node) {
      return has_enough(*node, pods, one.first, one.second);
    });
    if (lacks)
      return fmt::format("{}: {}", option_of(resource, amount),
                         largest_told(nodes, pods, resource, amount, which));
    all += (all.empty() ? "" : ", ") + option_of(resource, amount);
  }
  return fmt::format(
      "{}: none of {} suitable nodes{} has all of it, and a session is on one of them", all,
      nodes.size(), which);
}

}  // namespace assay::launch
