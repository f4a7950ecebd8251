// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/kubeapi/client.h>

namespace assay::kubeapi {

/// Of a pod as the server tells it. Whatever is missing or of another type counts as not told.
Result<PodState> read_pod_state(std::string_view text);
/// Adds those of a list; returns what asks for the page behind it, empty: this is the last one.
Result<std::string> read_pod_states(std::string_view text, std::vector<PodState>& into);

}  // namespace assay::kubeapi
