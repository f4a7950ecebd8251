// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <assay/agent/agent.h>
#include <assay/base/problems.h>

namespace assay::agent {

struct ConfigResult {
  Settings settings;               ///< of no use when there are errors
  std::vector<Diagnostic> errors;  ///< all of them, each with its line
};

/// Reads the daemon's config file (docs/agent.md has its keys); what it does not say keeps its
/// default. Paths in it start from the file's folder.
ConfigResult read_config(const std::filesystem::path& file);
/// The same from text; opens no file.
ConfigResult parse_config(const std::string& text, const std::filesystem::path& file);

}  // namespace assay::agent
