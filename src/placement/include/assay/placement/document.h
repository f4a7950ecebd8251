// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include <assay/placement/rank.h>

namespace assay::placement {

/// For programs; docs/placement.md has its form.
nlohmann::json ranking_document(const Ranking& ranking);
nlohmann::json fleet_document(const Fleet& fleet);
/// For people: the answer first, then a line for each device.
std::string ranking_text(const std::string& model, const Ranking& ranking, bool color);

/// "12.3 ms".
std::string time_text(double seconds);

}  // namespace assay::placement
