// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <assay/collect/calibrate.h>

namespace assay::cli {

/// What a device's GPU was measured to do, as names and texts of lines; none when it has no GPU.
std::vector<std::pair<std::string, std::string>> gpu_lines(const collect::Calibration& found);

/// What a line about this figure is called; nothing for one that is no GPU's.
std::optional<std::string> gpu_name(const std::string& figure);

}  // namespace assay::cli
