// SPDX-License-Identifier: Apache-2.0
#include "cluster_commands.h"

namespace assay::cli {

void add_cluster_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("cluster", "How jobs use a Kubernetes cluster's GPUs");
  command->require_subcommand(1);
  command->footer(R"(
Examples:
  assay cluster profile --prometheus http://10.0.0.5:9090 --rounds 1
  assay cluster jobs                                   what jobs used
  assay cluster trial -f job.yaml --gpus 'T4:1,2;A100:1' --metric samples_per_second
  assay cluster recommend train --want cheapest        by what its trials told
  assay cluster clean                                  takes all annotations away

Each has more behind --help. The cluster is that of kubectl: --kubeconfig, KUBECONFIG, --context.
)");
  add_cluster_profile_command(*command, context);
  add_cluster_jobs_command(*command, context);
  add_cluster_clean_command(*command, context);
  add_cluster_trial_command(*command, context);
  add_cluster_recommend_command(*command, context);
}

}  // namespace assay::cli
