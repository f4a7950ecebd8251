// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/job_manifest.h"

#include "docker/container.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

/// A run without a timeout ends by itself, and then there is this.
constexpr Nanoseconds kLongestRun = std::chrono::hours(24);
/// For the cluster to do what it is asked.
constexpr Nanoseconds kSlack = std::chrono::seconds(60);
/// Newer clusters remove a Job by themselves so long after its end.
constexpr int kKeptSeconds = 600;
/// A node that is away for longer measures nothing: the cluster gives the pod up.
constexpr int kAwaySeconds = 30;

/// A cluster would put variables in place of "$(NAME)", and make one of "$$".
std::string literal(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped.append(c == '$' ? 2 : 1, c);
  return escaped;
}

bool is_utf8(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::ignore) ==
         Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_all_utf8(const Target& target) {
  return std::all_of(target.command.begin(), target.command.end(), is_utf8) &&
         std::all_of(target.env.begin(), target.env.end(), [](const auto& variable) {
           return is_utf8(variable.first) && is_utf8(variable.second);
         });
}

int64_t whole_seconds(Nanoseconds time) {
  return std::chrono::ceil<std::chrono::seconds>(time).count();
}

Json resources(const Target& target, const JobSettings& settings) {
  Json amounts = Json::object();
  const Limits& limits = target.limits;
  if (limits.cpus) amounts["cpu"] = fmt::format("{:.0f}m", std::ceil(*limits.cpus * 1000));
  if (limits.memory_bytes) amounts["memory"] = fmt::to_string(*limits.memory_bytes);
  if (const uint64_t gpus = wanted_gpus(target); gpus > 0)
    amounts[settings.gpu_resource] = fmt::to_string(gpus);
  if (amounts.empty()) return amounts;
  // What may be used is also set aside: others must not make the numbers smaller.
  return {{"limits", amounts}, {"requests", amounts}};
}

Json container(const Request& request, const JobSettings& settings) {
  const Target& target = request.target;
  Json json = {{"name", "app"}, {"image", target.image}};
  for (const auto& word : target.command) json["args"].push_back(literal(word));
  if (!target.workdir.empty()) json["workingDir"] = target.workdir;
  Json env = Json::array();
  auto variables = target.env;
  if (!settings.hooks_folder.empty())
    variables.emplace("ASSAY_SOCKET", fmt::format("{}/live_metrics.sock", kSocketFolder));
  for (const auto& [name, value] : variables)
    env.push_back({{"name", name}, {"value", literal(value)}});
  if (!env.empty()) json["env"] = env;
  if (auto amounts = resources(target, settings); !amounts.empty())
    json["resources"] = std::move(amounts);
  if (!settings.hooks_folder.empty())
    json["volumeMounts"] = Json::array(
        {Json{{"name", "assay-hooks"}, {"mountPath", kSocketFolder}, {"readOnly", true}}});
  return json;
}

Json on_node(const std::string& node) {
  const Json is_it = {
      {"key", "metadata.name"}, {"operator", "In"}, {"values", Json::array({node})}};
  const Json term = {{"matchFields", Json::array({is_it})}};
  return {{"nodeAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution",
             {{"nodeSelectorTerms", Json::array({term})}}}}}};
}

Json tolerations(const Target& target, const JobSettings& settings) {
  Json all = Json::array();
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
    all.push_back({{"key", key},
                   {"operator", "Exists"},
                   {"effect", "NoExecute"},
                   {"tolerationSeconds", kAwaySeconds}});
  // Nodes with GPUs are often kept for those who ask for them.
  if (wanted_gpus(target) > 0)
    all.push_back({{"key", settings.gpu_resource}, {"operator", "Exists"}});
  return all;
}

Json pod_spec(const Request& request, const JobSettings& settings, const std::string& node) {
  Json spec = {{"restartPolicy", "Never"},
               {"terminationGracePeriodSeconds", whole_seconds(request.target.grace)},
               {"automountServiceAccountToken", false},
               {"affinity", on_node(node)},
               {"tolerations", tolerations(request.target, settings)},
               {"containers", Json::array({container(request, settings)})}};
  if (!settings.node_selector.empty()) spec["nodeSelector"] = settings.node_selector;
  if (!settings.hooks_folder.empty())
    spec["volumes"] = Json::array(
        {Json{{"name", "assay-hooks"},
              {"hostPath", {{"path", settings.hooks_folder}, {"type", "DirectoryOrCreate"}}}}});
  return spec;
}

}  // namespace

std::string job_name(const std::string& session_id, int run) {
  return fmt::format("assay-{}-{}", session_id, run);
}

std::string job_selector(const std::string& session_id, int run) {
  return fmt::format("{}={},{}={}", kJobSessionLabel, session_id, kJobRunLabel, run);
}

uint64_t wanted_gpus(const Target& target) {
  return parse_uint(target.limits.gpus).value_or(0);
}

std::vector<Obstacle> job_obstacles(const Target& target, const JobSettings& settings) {
  std::vector<Obstacle> found;
  const auto refuse = [&](bool wrong, const char* key, std::string why) {
    if (wrong) found.push_back({key, {ErrorKind::input, std::move(why)}});
  };
  const Limits& limits = target.limits;
  refuse(target.image.empty(), "runtime",
         "kubernetes runs images; name one that the cluster can pull, instead of a command");
  refuse(!target.docker_args.empty(), "docker_args",
         "docker_args are for docker, and a Job cannot have them; leave out one of the two");
  refuse(!target.needs.empty(), "needs",
         "kubernetes starts nothing beside the app; run it with docker");
  refuse(!target.playback.empty() || !target.dataset.empty(),
         target.playback.empty() ? "dataset" : "playback",
         "a dataset of this machine is not brought to a node of a cluster; put it into the image, "
         "or run with docker");
  refuse(!limits.network.empty(), "resources",
         "network: a link of a cluster's node cannot be slowed down; run with docker");
  refuse(!limits.gpus.empty() && wanted_gpus(target) == 0, "resources",
         fmt::format("gpus: {} cannot be asked of a cluster, which gives GPUs by their number; "
                     "write for example 1",
                     limits.gpus));
  refuse(!is_all_utf8(target), "runtime",
         "a cluster takes only text in UTF-8 as arguments and variables of an app");
  refuse(settings.name_space.empty(), "runtime", "kubernetes needs a namespace");
  return found;
}

Json job_manifest(const Request& request, const JobSettings& settings, const std::string& node,
                  const Owner& owner, const std::string& machine) {
  const Target& target = request.target;
  const Nanoseconds longest = target.timeout > Nanoseconds(0) ? target.timeout : kLongestRun;
  const Json labels = {{kJobSessionLabel, request.session_id},
                       {kJobRunLabel, fmt::to_string(request.run)},
                       {"app.kubernetes.io/managed-by", "assay"}};
  return {
      {"apiVersion", "batch/v1"},
      {"kind", "Job"},
      {"metadata",
       {{"name", job_name(request.session_id, request.run)},
        {"namespace", settings.name_space},
        {"labels", labels},
        {"annotations", {{kJobOwnerAnnotation, owner.text()}, {kJobMachineAnnotation, machine}}}}},
      {"spec",
       {{"backoffLimit", 0},
        {"activeDeadlineSeconds",
         whole_seconds(longest + settings.start_patience + target.grace + kSlack)},
        {"ttlSecondsAfterFinished", kKeptSeconds},
        {"template",
         {{"metadata", {{"labels", labels}}}, {"spec", pod_spec(request, settings, node)}}}}}};
}

}  // namespace assay::launch
