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
/// One app alone, also one that has ended a moment ago, by its path or container id; with what a
/// session on another machine makes its series of: all counters since its start, when they were
/// read, and all durations. No app where there is none of that id.
nlohmann::ordered_json to_json(const std::string& app, const LiveTable& table,
                               const Reports& reports, Timestamp now);

}  // namespace assay::agent
