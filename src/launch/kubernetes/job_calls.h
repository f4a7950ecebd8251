// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kubernetes/job_pod.h"

#include <optional>
#include <string>
#include <vector>

#include <assay/kubeapi/client.h>
#include <assay/kubeapi/writes.h>

/// What is asked of an API server about the Job of a run, and done to it, in the caller's thread.
namespace assay::launch {

/// Of those with the labels the one of that name, without a name the newest. An error is temporary
/// where the server is away or overloaded.
Result<JobPod> find_job_pod(kubeapi::Client& client, const std::string& name_space,
                            const std::string& selector, const std::string& name,
                            net::Stopper& stopper);

/// Other sessions whose apps run on that node now, as far as their Jobs are in this namespace.
/// Nothing where that cannot be found out.
std::vector<std::string> other_sessions(kubeapi::Client& client, const std::string& name_space,
                                        const std::string& node, const std::string& session,
                                        net::Stopper& stopper);

/// With its pod, which ends within its grace. A server that is away is asked again for that long.
/// Returns what stays behind and why; nothing: it is gone, or about to.
std::optional<Error> delete_job(kubeapi::Client& client, const kubeapi::ObjectName& job,
                                Milliseconds patience);

/// Its app gets SIGKILL now. False: the server did not hear it.
bool kill_pod(kubeapi::Client& client, const kubeapi::PodName& pod, net::Stopper& stopper);

}  // namespace assay::launch
