// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracker.h"

#include <string>

#include <assay/kubeapi/client.h>
#include <assay/kubeapi/rate_limiter.h>

namespace assay::cluster {

/// Whether an object says, among the conditions of its status, that it is over for good: as Jobs
/// and Kubeflow's jobs do.
bool says_ended(const std::string& object_json);

/// Asks jobs whose last worker failed whether they are over, as far as the rate allows: Kubernetes
/// may wait for ten minutes before it tries again. What has no answer stays as it is.
void ask_for_ends(Tracker& tracker, kubeapi::Client& client, kubeapi::RateLimiter& limiter,
                  Timestamp now, net::Stopper& stopper);

}  // namespace assay::cluster
