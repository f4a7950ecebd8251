// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cluster_options.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <assay/placement/deploy.h>
#include <assay/placement/workers.h>

namespace assay::cli {

/// Where workers are started.
struct WorkerOptions {
  std::string image;
  std::vector<std::string> dockers;  ///< NODE=URL
  bool kubernetes = false;
  std::string name_space = "default";
  ClusterOptions cluster;
  std::string advertise;
};
void add_worker_options(CLI::App& command, WorkerOptions& options, const char* image_option,
                        const char* image_help);

/// For a worker on that node: the cluster, the Docker that was named for the node, or this
/// machine's where the node is this machine, or the `only` one that is known.
Result<std::unique_ptr<placement::WorkerHost>> worker_host(const WorkerOptions& options,
                                                           const std::string& node, bool only,
                                                           std::function<bool()> wanted);
/// Workers of earlier calls, wherever the options lead: the cluster, or the Docker of each node
/// that was named and of this machine, where it has one.
Result<placement::Workers> list_workers(const WorkerOptions& options,
                                        const std::function<bool()>& wanted);
/// Ends a worker by its name, wherever the options lead. An error when none is found.
Result<void> end_worker(const WorkerOptions& options, const std::string& name);
/// The words that end it.
std::string end_command(const WorkerOptions& options, const std::string& name);

}  // namespace assay::cli
