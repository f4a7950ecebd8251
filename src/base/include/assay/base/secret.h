// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <assay/base/result.h>

namespace assay {

/// Its time depends on the length of `given` alone, so that a secret cannot be guessed letter by
/// letter. Nothing is the same as an empty secret.
bool is_same_secret(std::string_view kept, std::string_view given);

/// The secret in a file that only its owner may read; where there is none, a new one is made, of
/// 256 random bits.
Result<std::string> own_secret(const std::filesystem::path& file);

}  // namespace assay
