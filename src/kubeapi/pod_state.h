// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <assay/base/result.h>
#include <assay/kubeapi/client.h>

namespace assay::kubeapi {

/// Of a pod as the server tells it. Whatever is missing or of another type counts as not told.
Result<PodState> read_pod_state(std::string_view text);

}  // namespace assay::kubeapi
