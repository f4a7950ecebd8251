// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spec_options.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <assay/session/session.h>

namespace assay::cli {

/// Everything that is wrong with what was read and with its plan.
std::vector<session::Diagnostic> errors_of(const ReadSpec& read, const session::Plan& plan);

/// The plan, if the spec could be read, and everything that is wrong, as one document; `cluster`
/// where it runs in one.
std::string plan_json(const ReadSpec& read, const session::Plan& plan,
                      const nlohmann::ordered_json& cluster = {});

}  // namespace assay::cli
