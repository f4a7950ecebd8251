// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/cluster/trial_runner.h>
#include <assay/net/http_client.h>

namespace assay::cluster {

/// Whether it can be the name of a metric.
Result<void> check_metric(const std::string& name);

/// Asks a Prometheus what the pods of a result did between its begin and its end, and fills in what
/// it knows: utilization, memory and power; and the throughput, by the metric, or without one, and
/// without a pattern of logs, by how busy the GPUs were.
Result<void> ask_prometheus(promapi::Queries& queries, const TrialSettings& settings,
                            TrialResult& result, net::Stopper& stopper);

}  // namespace assay::cluster
