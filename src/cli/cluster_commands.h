// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "commands.h"

namespace assay::cli {

// Below the command `cluster`.
void add_cluster_profile_command(CLI::App& cluster, Context& context);
void add_cluster_jobs_command(CLI::App& cluster, Context& context);
void add_cluster_trial_command(CLI::App& cluster, Context& context);
void add_cluster_recommend_command(CLI::App& cluster, Context& context);
void add_cluster_clean_command(CLI::App& cluster, Context& context);

}  // namespace assay::cli
