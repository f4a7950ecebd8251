// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>

namespace assay {

/// Splits by POSIX shell word rules (quotes, backslashes; no expansion, no operators).
Result<std::vector<std::string>> split_words(std::string_view text);
/// Joins words so that a shell would read them back as given.
std::string join_words(std::span<const std::string> words);

/// The candidate with the smallest edit distance, if it is close enough to be a likely typo.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

/// Whole-string conversions; nothing on garbage, overflow or trailing characters. No allocation.
std::optional<int64_t> parse_int(std::string_view text);
std::optional<uint64_t> parse_uint(std::string_view text);
std::optional<double> parse_double(std::string_view text);

/// "512", "512MB", "1.5GiB", "2g": with B alone they are powers of ten, as format_bytes prints
/// them; with i, or as the bare letter of Docker's options, powers of 1024.
Result<uint64_t> parse_bytes(const std::string& text);
/// "2mbit", "500 kbit", "1.5 Gbit/s" in bits per second, powers of ten. A unit is needed. What ends
/// in "bps" is refused: to tc(8) it is bytes per second, to most people bits.
Result<double> parse_bit_rate(const std::string& text);
/// "612 MB", "1.8 GB": powers of ten, three digits.
std::string format_bytes(double bytes);
/// Three significant digits without an exponent for everyday magnitudes: "12.4", "0.0123", "1 830".
/// So many decimals at least, as far as they are not zero: with 2 it is "113.27".
std::string format_number(double value, int decimals = 0);

/// As in RFC 4648, without line breaks.
std::string base64_encoded(std::string_view bytes);
/// White space is skipped; nothing when the rest is not in base64.
std::optional<std::string> base64_decoded(std::string_view text);

std::string_view trim(std::string_view text);
/// Takes the part of `text` before the next `separator` and moves `text` behind it.
std::string_view next_field(std::string_view& text, char separator);

}  // namespace assay
