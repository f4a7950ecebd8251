// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <assay/placement/assign.h>

namespace assay::placement {

/// For programs, as JSON; docs/placement.md has its form.
std::string ranking_json(const Ranking& ranking);
/// The same for several models that are placed together: where each goes, and how long it takes
/// there beside the others.
std::string placements_json(const std::vector<std::string>& models,
                            const std::vector<Ranking>& rankings,
                            const std::vector<Assigned>& assigned);
std::string fleet_json(const Fleet& fleet);
/// For people: the answer first, then a line for each device.
std::string ranking_text(const std::string& model, const Ranking& ranking, bool color);

/// "12.3 ms".
std::string time_text(double seconds);

}  // namespace assay::placement
