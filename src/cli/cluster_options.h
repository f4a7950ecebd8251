// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include <assay/kubeapi/access.h>

namespace assay::cli {

/// Which cluster, as typed.
struct ClusterOptions {
  std::string kubeconfig = {};
  std::string context = {};

  bool given() const { return !kubeconfig.empty() || !context.empty(); }
};

/// Of --kubeconfig, else the files in KUBECONFIG, else the account of the pod that we run in, else
/// ~/.kube/config. A context is always one of files.
Result<kubeapi::Access> cluster_access(const ClusterOptions& options);
/// What kubectl would take: `given`, else that of the context, else "default".
std::string namespace_of(const std::string& given, const Result<kubeapi::Access>& access);
void add_cluster_options(CLI::App& command, ClusterOptions& options, const char* group = "");

}  // namespace assay::cli
