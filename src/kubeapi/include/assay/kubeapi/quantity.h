// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace assay::kubeapi {

/// "500m", "1.5", "2Gi" in cores or bytes; nothing for any other text.
std::optional<double> parse_quantity(std::string_view text);

}  // namespace assay::kubeapi
