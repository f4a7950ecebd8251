// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include <assay/agent/agent.h>

namespace assay::agent {

/// Gives `fresh` the present values of all that cannot change while the daemon runs, and returns
/// the names of those that were to be changed.
std::vector<std::string_view> keep_fixed(const Settings& present, Settings& fresh);

}  // namespace assay::agent
