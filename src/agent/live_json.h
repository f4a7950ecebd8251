// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decide/decisions.h"
#include "live_table.h"
#include "reports.h"

#include <nlohmann/json_fwd.hpp>

namespace assay::agent {

/// The live table as the API tells it (docs/agent.md).
nlohmann::ordered_json to_json(const LiveTable& table, const Reports& reports,
                               const Decisions& decisions, Timestamp now);

}  // namespace assay::agent
