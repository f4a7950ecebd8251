// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <assay/base/result.h>

namespace assay::promapi {

/// The header line by which a request shows who sends it; empty when nothing is configured. Errors
/// do not hold what the file does.
Result<std::string> authorization(const std::filesystem::path& bearer_token_file,
                                  const std::filesystem::path& basic_auth_file);

}  // namespace assay::promapi
