// SPDX-License-Identifier: Apache-2.0
#include "cluster_options.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <assay/base/text.h>

namespace assay::cli {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// "a:b", as in PATH.
std::vector<std::filesystem::path> files_in(std::string_view list) {
  std::vector<std::filesystem::path> files;
  while (!list.empty())
    if (const auto file = next_field(list, ':'); !file.empty()) files.emplace_back(file);
  return files;
}

}  // namespace

Result<kubeapi::Access> cluster_access(const ClusterOptions& options) {
  if (!options.kubeconfig.empty())
    return kubeapi::read_kubeconfig(options.kubeconfig, options.context);
  if (const auto files = files_in(variable("KUBECONFIG")); !files.empty())
    return kubeapi::read_kubeconfigs(files, options.context);
  const auto account = kubeapi::own_service_account();
  if (account && options.context.empty()) return kubeapi::read_service_account(*account);
  const std::filesystem::path file = variable("HOME") + "/.kube/config";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    return refused(
        fmt::format("no cluster is named, and there is no {}: name one with "
                    "--kubeconfig FILE or KUBECONFIG",
                    file.native()));
  return kubeapi::read_kubeconfig(file, options.context);
}

std::string namespace_of(const std::string& given, const Result<kubeapi::Access>& access) {
  if (!given.empty()) return given;
  return access && !access->name_space.empty() ? access->name_space : "default";
}

void add_cluster_options(CLI::App& command, ClusterOptions& options, const char* group) {
  const auto add = [&](const char* name, std::string& into, const char* help, const char* type) {
    auto* option = command.add_option(name, into, help)->type_name(type);
    if (*group != '\0') option->group(group);
  };
  add("--kubeconfig", options.kubeconfig,
      "Who the cluster is (default: KUBECONFIG, the pod's own account, ~/.kube/config)", "FILE");
  add("--context", options.context, "Which of the kubeconfig's contexts (default: its current one)",
      "NAME");
}

}  // namespace assay::cli
