// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

/// Words of messages to users.
namespace assay {

/// Foreign text for a message: in quotes, shortened, without control characters.
std::string in_quotes(std::string_view text, size_t most = 60);

/// Whether one letter too many, too few, wrong, or two swapped make `a` out of `b`.
bool is_one_slip(std::string_view a, std::string_view b);

/// "; did you mean 'x'?", or "; " and what is valid when nothing is near.
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace assay
