// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace assay::cluster {

/// JSON in one line with a space behind each ":" and ",", as Python prints its values.
std::string spaced(const nlohmann::ordered_json& json);

}  // namespace assay::cluster
