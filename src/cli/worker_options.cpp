// SPDX-License-Identifier: Apache-2.0
#include "worker_options.h"

#include "cluster_options.h"

#include <array>
#include <climits>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <unistd.h>

#include <assay/base/wording.h>
#include <assay/placement/docker_host.h>
#include <assay/placement/kubernetes_host.h>

namespace assay::cli {
namespace {

std::string own_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// Of --docker, by the node.
Result<std::map<std::string, std::string>> daemons_of(const WorkerOptions& options) {
  std::map<std::string, std::string> daemons;
  for (const auto& word : options.dockers) {
    const size_t equals = word.find('=');
    if (equals == word.npos || equals == 0 || equals + 1 == word.size())
      return bad_input(fmt::format(
          "--docker takes NODE=URL, as in --docker pi-1=tcp://10.0.0.7:2376; {} is none",
          in_quotes(word)));
    daemons[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return daemons;
}

Result<placement::KubernetesPlace> cluster_of(const WorkerOptions& options) {
  ASSAY_TRY(auto access, cluster_access(options.cluster));
  return placement::KubernetesPlace{std::move(access), options.name_space, options.advertise};
}

}  // namespace

void add_worker_options(CLI::App& command, WorkerOptions& options, const char* image_option,
                        const char* image_help) {
  constexpr const char* kWorkers = "Workers";
  command.add_option(image_option, options.image, image_help)->type_name("IMAGE")->group(kWorkers);
  command
      .add_option(
          "--docker", options.dockers,
          "Where the Docker of a node is (this machine's for this machine); may be repeated")
      ->type_name("NODE=URL")
      ->allow_extra_args(false)
      ->group(kWorkers);
  command.add_flag("--kubernetes", options.kubernetes, "Start it as a pod of a Kubernetes cluster")
      ->group(kWorkers);
  command.add_option("--namespace", options.name_space, "Namespace of the pod (default)")
      ->type_name("NAME")
      ->group(kWorkers);
  add_cluster_options(command, options.cluster, kWorkers);
  command
      .add_option("--advertise", options.advertise,
                  "Address of this machine, where pods fetch the model")
      ->type_name("ADDRESS")
      ->group(kWorkers);
}

Result<std::unique_ptr<placement::WorkerHost>> worker_host(const WorkerOptions& options,
                                                           const std::string& node, bool only,
                                                           std::function<bool()> wanted) {
  if (options.kubernetes) {
    ASSAY_TRY(const auto cluster, cluster_of(options));
    return placement::kubernetes_host(cluster, std::move(wanted));
  }
  ASSAY_TRY(const auto daemons, daemons_of(options));
  if (const auto found = daemons.find(node); found != daemons.end())
    return placement::docker_host(found->second, std::move(wanted));
  if (node == own_name() || (only && daemons.empty()))
    return placement::docker_host("", std::move(wanted));
  return bad_input(fmt::format(
      "{} is another machine; say where its Docker is (--docker {}=tcp://ADDRESS:2376), or "
      "--kubernetes",
      node, node));
}

Result<placement::Workers> list_workers(const WorkerOptions& options,
                                        const std::function<bool()>& wanted) {
  placement::Workers workers;
  if (options.kubernetes) {
    ASSAY_TRY(const auto cluster, cluster_of(options));
    ASSAY_TRY(workers.list, placement::kubernetes_workers(cluster, wanted));
    return workers;
  }
  ASSAY_TRY(const auto daemons, daemons_of(options));
  for (const auto& [node, daemon] : daemons) {
    const auto found = placement::docker_workers(daemon, node, wanted);
    if (found)
      workers.add(*found);
    else
      workers.not_asked.push_back({node, found.error().message});
  }
  const auto own = placement::docker_workers("", own_name(), wanted);
  if (own) workers.add(*own);
  if (!own && daemons.empty()) return fail(own.error());
  return workers;
}

Result<void> end_worker(const WorkerOptions& options, const std::string& name) {
  if (options.kubernetes) {
    ASSAY_TRY(const auto cluster, cluster_of(options));
    return placement::end_kubernetes_worker(cluster, name);
  }
  ASSAY_TRY(const auto daemons, daemons_of(options));
  std::vector<std::string> asked;
  for (const auto& [node, daemon] : daemons) asked.push_back(daemon);
  asked.emplace_back();  // this machine's own, which may have been the fastest
  std::optional<Error> first;
  for (const auto& daemon : asked) {
    const auto ended = placement::end_docker_worker(daemon, name);
    if (ended) return {};
    if (!first) first = ended.error();
  }
  return fail(std::move(*first));
}

std::string end_command(const WorkerOptions& options, const std::string& name) {
  std::string words = "assay place --end " + name;
  for (const auto& docker : options.dockers) words += " --docker " + docker;
  if (!options.kubernetes) return words;
  words += " --kubernetes --namespace " + options.name_space;
  if (!options.cluster.kubeconfig.empty()) words += " --kubeconfig " + options.cluster.kubeconfig;
  if (!options.cluster.context.empty()) words += " --context " + options.cluster.context;
  return words;
}

}  // namespace assay::cli
