// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include <assay/base/result.h>

namespace assay::launch {

/// In lower-case hexadecimal.
std::string sha256_of(std::string_view text);
/// `go_on` is asked between pieces with the bytes read so far; false ends it with an error.
Result<std::string> sha256_of_file(const std::filesystem::path& file,
                                   const std::function<bool(uint64_t)>& go_on);
/// 64 hexadecimal digits.
bool is_sha256(std::string_view text);

/// The error of a fetch that its caller stopped.
Error stopped_error();

}  // namespace assay::launch
