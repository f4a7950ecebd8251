// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <assay/placement/deploy.h>
#include <assay/placement/workers.h>

namespace assay::placement {

/// Workers as containers of the daemon at `daemon` ("unix:///run/docker.sock",
/// "tcp://10.0.0.7:2376"; empty: this machine's). The model is copied into them.
Result<std::unique_ptr<WorkerHost>> docker_host(const std::string& daemon,
                                                std::function<bool()> wanted);
/// Ends a worker of an earlier call by its name. What we did not start is not touched.
Result<void> end_docker_worker(const std::string& daemon, const std::string& name);

/// Workers of earlier calls; `node`: whose daemon it is.
Result<std::vector<Worker>> docker_workers(const std::string& daemon, const std::string& node,
                                           std::function<bool()> wanted);

}  // namespace assay::placement
