// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cluster_options.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/launch/jobs.h>

namespace assay::cli {

/// What the command line says about runs in a cluster, as typed.
struct JobArguments {
  ClusterOptions cluster;
  std::string name_space;
  std::vector<std::string> node_selector;
  std::string each_node_like;
  std::string agent;
  std::string agent_namespace;
  std::string agent_label;
  std::string agent_token_file;
  std::optional<std::string> hooks_folder;
  std::string start_timeout;

  /// The first option that only a run in a cluster has; empty: none was given.
  std::string first_given() const;
};

void add_job_options(CLI::App& command, JobArguments& args);
/// Only those that say where the agents are.
void add_agent_options(CLI::App& command, JobArguments& args, const char* group);

/// Errors name the option. Plan: only the namespace of the context is wanted, where there is one.
/// None: who has found the cluster already gives it.
enum class ClusterNeed : uint8_t { yes, plan, none };
Result<launch::JobSettings> job_settings(const JobArguments& args,
                                         ClusterNeed need = ClusterNeed::yes);

/// Where Jobs would run and who would measure them, for a plan: lines with a name each.
std::string describe_cluster(const JobArguments& args, const launch::JobSettings& settings);
nlohmann::ordered_json cluster_document(const JobArguments& args,
                                        const launch::JobSettings& settings);

/// "LABEL" or "LABEL=PATTERN".
struct NodeLike {
  std::string label;
  std::string pattern = "*";
};
Result<NodeLike> parse_node_like(const std::string& text);

}  // namespace assay::cli
