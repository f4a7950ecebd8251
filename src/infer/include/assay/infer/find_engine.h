// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>

namespace assay::infer {

inline constexpr std::array<std::string_view, 3> kEngines = {"opencv", "onnxruntime-node",
                                                             "onnxruntime"};

/// What starts the engine: one of kEngines by its name, any other by its command line.
/// `assay-infer` stands beside our own program, the scripts in $ASSAY_RUNNERS, else where they are
/// installed, else where they are built from.
Result<std::vector<std::string>> engine_command(const std::string& engine);

}  // namespace assay::infer
