// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

/// Steps through the kernel's text files. All of it is pure, allocates nothing and takes any bytes.
namespace assay::probes {

/// Takes the next line, without its end; false when `text` is used up.
bool next_line(std::string_view& text, std::string_view& line);
/// Takes the next word between blanks (space, tab); empty when there is none.
std::string_view next_word(std::string_view& line);
/// Takes the next word as a number; nothing when it is not a whole number that fits.
std::optional<uint64_t> next_uint(std::string_view& line);
/// Drops `count` words.
void skip_words(std::string_view& line, int count);
/// The first number behind `key` in lines of the form "key 12", "key: 12 kB" or "key\t12".
std::optional<uint64_t> keyed_uint(std::string_view text, std::string_view key);
/// The rest of the line behind `key` and its colon, without blanks at both ends.
std::optional<std::string_view> keyed_text(std::string_view text, std::string_view key);

}  // namespace assay::probes
