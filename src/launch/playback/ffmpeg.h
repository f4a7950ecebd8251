// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include <assay/base/result.h>

namespace assay::launch {

/// An error that says how to install it where it is not.
Result<void> find_ffmpeg();

/// Runs `ffmpeg ARGUMENTS` in `folder` to its end, or until a stop is asked for. `progress` is told
/// how many frames are written. The error says what ffmpeg said.
Result<void> run_ffmpeg(const std::vector<std::string>& arguments,
                        const std::filesystem::path& folder, const std::stop_token& stop,
                        const std::function<void(uint64_t frames)>& progress);

}  // namespace assay::launch
