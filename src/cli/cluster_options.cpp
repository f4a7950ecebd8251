// SPDX-License-Identifier: Apache-2.0
#include "cluster_options.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <system_error>

namespace assay::cli {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Result<kubeapi::Access> cluster_access(std::string kubeconfig) {
  if (kubeconfig.empty()) kubeconfig = variable("KUBECONFIG");
  const auto account = kubeapi::own_service_account();
  if (kubeconfig.empty() && account) return kubeapi::read_service_account(*account);
  if (kubeconfig.empty()) {
    kubeconfig = variable("HOME") + "/.kube/config";
    std::error_code ignored;
    if (!std::filesystem::exists(kubeconfig, ignored))
      return refused(
          fmt::format("no cluster is named, and there is no {}: name one with "
                      "--kubeconfig FILE or KUBECONFIG",
                      kubeconfig));
  }
  return kubeapi::read_kubeconfig(kubeconfig);
}

void add_kubeconfig_option(CLI::App& command, std::string& kubeconfig, const char* group) {
  auto* option =
      command
          .add_option(
              "--kubeconfig", kubeconfig,
              "Who the cluster is (default: KUBECONFIG, the pod's own account, ~/.kube/config)")
          ->type_name("FILE");
  if (*group != '\0') option->group(group);
}

}  // namespace assay::cli
