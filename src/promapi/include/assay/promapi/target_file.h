// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <assay/base/result.h>

namespace assay::promapi {

/// Addresses to be scraped and the labels that their series get.
struct TargetGroup {
  std::vector<std::string> targets;           ///< "node-1:9410"
  std::map<std::string, std::string> labels;  ///< names are made valid; "__metrics_path__" is one
};

/// Writes what Prometheus' file_sd_configs read. Prometheus never sees half a file; one that would
/// stay the same is not touched, so that it is not read again.
Result<void> write_target_file(const std::filesystem::path& file,
                               std::span<const TargetGroup> groups);

}  // namespace assay::promapi
