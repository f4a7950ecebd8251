// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>
#include <assay/net/http_client.h>

namespace assay::kubeapi {

class Login;

/// Where a cluster's API server is, why it is trusted, and who we are to it.
struct Access {
  net::Endpoint endpoint = {};
  std::string name_space = {};            ///< of the kubeconfig's context; empty: it has none
  std::string token = {};                 ///< empty: none, or in the file
  std::filesystem::path token_file = {};  ///< read for each request, since tokens are renewed
  std::shared_ptr<Login> login = {};      ///< a program that tells who we are; null: none does
  /// Certificates that were written in the kubeconfig itself, as files in memory that `endpoint`
  /// names.
  std::vector<std::shared_ptr<const Fd>> in_memory = {};
};

/// What a context of a kubeconfig says: the current one when none is named. A program that its user
/// logs in by is run for the first request, and not yet here.
Result<Access> read_kubeconfig(const std::filesystem::path& file, const std::string& context = {});
/// Several files as one: of entries with the same name, and of current contexts, the first counts.
/// Files that are not there are left out, as long as one is.
Result<Access> read_kubeconfigs(const std::vector<std::filesystem::path>& files,
                                const std::string& context = {});

/// What every pod is given, unless it asked not to be.
struct ServiceAccount {
  std::filesystem::path folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  std::string host = {};
  std::string port = {};
};
/// Of the pod that we run in, by its environment; nothing outside of pods.
std::optional<ServiceAccount> own_service_account();
Result<Access> read_service_account(const ServiceAccount& account);

}  // namespace assay::kubeapi
