// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <assay/kubeapi/access.h>
#include <assay/placement/deploy.h>
#include <assay/placement/workers.h>

namespace assay::placement {

struct KubernetesPlace {
  kubeapi::Access access;
  std::string name_space = "default";
  /// Of this machine, as pods reach it: the worker fetches the model there.
  std::string advertise = {};
};

/// Workers as pods with a node selector (kubernetes.io/hostname). The model is given to them by a
/// small server here, with a key, until they serve; they are asked by way of the API server.
std::unique_ptr<WorkerHost> kubernetes_host(const KubernetesPlace& place,
                                            std::function<bool()> wanted);
/// Ends a worker of an earlier call by its name. What we did not start is not touched.
Result<void> end_kubernetes_worker(const KubernetesPlace& place, const std::string& name);

/// Workers of earlier calls in the namespace.
Result<std::vector<Worker>> kubernetes_workers(const KubernetesPlace& place,
                                               std::function<bool()> wanted);

}  // namespace assay::placement
