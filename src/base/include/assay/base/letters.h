// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// With small letters for A to Z; others stay as they are.
std::string lower_case(std::string_view text);

/// Whether a byte of UTF-8 belongs to the letter before it: a text is not to be cut there.
bool continues_utf8(char c);

/// Foreign text whole, with a question mark for each byte that a terminal would obey or that is no
/// UTF-8.
std::string printable(std::string_view text);

}  // namespace assay
