// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decide/decisions.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace assay::agent {

/// What is true of the app and what to do, in one sentence without its name; empty when there is
/// nothing to say.
std::string sentence_of(const Decision& decision);
/// The same for memory that only grows.
std::string leak_sentence(const Evidence& evidence);
/// What the finding was made from, each in a few words: "fps is 6.2, wanted >= 10".
std::vector<std::string> evidence_of(const Decision& decision);

/// Adds "goals", "verdict" and "advice" to what is told about an app (docs/agent.md).
void add_decision(nlohmann::ordered_json& app, const Decision& decision, Timestamp now);

}  // namespace assay::agent
