// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <assay/placement/deploy.h>

namespace assay::cli {

/// Where workers are started.
struct WorkerOptions {
  std::string image;
  std::vector<std::string> dockers;  ///< NODE=URL
  bool kubernetes = false;
  std::string name_space = "default";
  std::string kubeconfig;
  std::string advertise;
};
void add_worker_options(CLI::App& command, WorkerOptions& options, const char* image_option,
                        const char* image_help);

/// For a worker on that node: the cluster, the Docker that was named for the node, or this
/// machine's where the node is this machine, or the `only` one that is known.
Result<std::unique_ptr<placement::WorkerHost>> worker_host(const WorkerOptions& options,
                                                           const std::string& node, bool only,
                                                           std::function<bool()> wanted);
/// Ends a worker by its name, wherever the options lead. An error when none is found.
Result<void> end_worker(const WorkerOptions& options, const std::string& name);

}  // namespace assay::cli
