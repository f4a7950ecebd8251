// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <assay/base/result.h>
#include <assay/kubeapi/client.h>

namespace assay::kubeapi {

/// What to send so that the pod, as the server has it now, gets these limits. An error: not without
/// harm, that is when the container would be started anew, or when a limit that it does not have
/// yet could not be taken away again.
Result<std::string> resize_patch(std::string_view pod, const Resize& wanted);

}  // namespace assay::kubeapi
