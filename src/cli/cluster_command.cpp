// SPDX-License-Identifier: Apache-2.0
#include "cluster_commands.h"

namespace assay::cli {

void add_cluster_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("cluster", "How jobs use a Kubernetes cluster's GPUs");
  command->require_subcommand(1);
  add_cluster_profile_command(*command, context);
  add_cluster_jobs_command(*command, context);
  add_cluster_clean_command(*command, context);
  add_cluster_trial_command(*command, context);
  add_cluster_recommend_command(*command, context);
}

}  // namespace assay::cli
