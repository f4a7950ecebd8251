// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <assay/base/result.h>
#include <assay/kubeapi/client.h>
#include <assay/kubeapi/quantity.h>

namespace assay::kubeapi {

struct ResizePatches {
  std::string change;
  std::string undo;  ///< sets what the spec says now
};

/// What to send so that the pod, as the server has it now, gets these limits. An error: not without
/// harm, that is when the container would be started anew, when a limit that it does not have yet
/// could not be taken away again, and when it was promised more.
Result<ResizePatches> resize_patch(std::string_view pod, const Resize& wanted);

/// Whether a container with that id is one of the pod's.
bool runs_container(std::string_view pod, const std::string& id);

}  // namespace assay::kubeapi
