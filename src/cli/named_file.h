// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <assay/base/result.h>

namespace assay::cli {

/// A name on the command line that is wrong is bad input, whatever may hinder the reading of a file
/// that is there.
Result<void> check_named_file(const std::filesystem::path& file);
/// The same, and what is in it.
Result<std::string> read_named_file(const std::filesystem::path& file, size_t limit);

}  // namespace assay::cli
