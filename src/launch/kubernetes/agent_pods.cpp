// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/agent_pods.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace assay::launch {
namespace {

using kubeapi::PodState;

constexpr size_t kMostNames = 5;

/// The one that tells most of these nodes, rather one that goes on than one that is over, as an
/// evicted one that stays beside its successor. Null: they have none.
const PodState* pod_on(const std::vector<PodState>& agents, const std::vector<std::string>& nodes) {
  const PodState* best = nullptr;
  for (const auto& pod : agents) {
    const bool theirs = std::find(nodes.begin(), nodes.end(), pod.node) != nodes.end();
    if (theirs && (best == nullptr || (best->over && !pod.over))) best = &pod;
  }
  return best;
}

/// "agent-7 on n1 is not ready: CrashLoopBackOff: back-off".
std::string state_told(const PodState& pod) {
  const std::string& why = pod.trouble;
  if (why.empty()) return fmt::format("{} on {} is not ready", pod.name, pod.node);
  return fmt::format("{} on {} is not ready: {}", pod.name, pod.node, why);
}

/// Only of what has run there are logs.
std::string look_at(const PodState& pod, const std::string& name_space) {
  const std::string& why = pod.trouble;
  const bool ran = !pod.node.empty() && (why.empty() || why.starts_with("CrashLoopBackOff") ||
                                         why.starts_with("it ended with"));
  return fmt::format("kubectl -n {} {} {}", name_space, ran ? "logs" : "describe pod", pod.name);
}

/// Of the first that no node has yet, and which may be meant for any; empty: there is none.
std::string waiting_told(const std::vector<PodState>& agents, const std::string& name_space) {
  const auto pod = std::find_if(agents.begin(), agents.end(),
                                [](const PodState& each) { return each.node.empty(); });
  if (pod == agents.end()) return "";
  return fmt::format("a pod of the agents, {}, has no node yet{}{} (see `{}`); ", pod->name,
                     pod->trouble.empty() ? "" : ": ", pod->trouble, look_at(*pod, name_space));
}

}  // namespace

const PodState* agent_on(const std::vector<PodState>& agents, const std::string& node) {
  const auto found = std::find_if(agents.begin(), agents.end(), [&](const PodState& agent) {
    return agent.node == node && agent.ready;
  });
  return found == agents.end() ? nullptr : &*found;
}

std::string names_told(std::vector<std::string> names) {
  const size_t more = names.size() > kMostNames ? names.size() - kMostNames : 0;
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string no_agent_told(const std::vector<PodState>& agents,
                          const std::vector<std::string>& nodes, const JobSettings& settings) {
  const std::string where = names_told(nodes);
  if (const PodState* const pod = pod_on(agents, nodes))
    return fmt::format(
        "no agent of Assay is ready on {}, and it is the agent that measures; its pod {}; see `{}`",
        where, state_told(*pod), look_at(*pod, settings.agent_namespace));
  return fmt::format(
      "there is no agent of Assay on {}, and it is the agent that measures; {}install it with "
      "`kubectl apply -k deploy/kubernetes`, or say where it is (--agent-namespace, --agent)",
      where, waiting_told(agents, settings.agent_namespace));
}

}  // namespace assay::launch
