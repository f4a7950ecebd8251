// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spec_options.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <assay/session/session.h>

namespace assay::cli {

/// The plan, if the spec could be read, and everything that is wrong, as one document; `cluster`
/// where it runs in one.
std::string plan_json(const ReadSpec& read, const session::Plan& plan,
                      const std::vector<session::Diagnostic>& errors,
                      const nlohmann::ordered_json& cluster = {});

}  // namespace assay::cli
