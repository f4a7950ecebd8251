// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include <assay/kubeapi/access.h>

namespace assay::cli {

/// Of --kubeconfig; empty: KUBECONFIG, else the account of the pod that we run in, else
/// ~/.kube/config.
Result<kubeapi::Access> cluster_access(std::string kubeconfig);
void add_kubeconfig_option(CLI::App& command, std::string& kubeconfig, const char* group = "");

}  // namespace assay::cli
