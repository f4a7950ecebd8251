// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include <assay/base/letters.h>

namespace assay {
namespace {

/// Of the letter that the text begins with; 0: it is none, or a control character.
size_t letter_size(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte < 0x80) return byte < 0x20 || byte == 0x7F ? 0 : 1;
  const size_t size = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
  if (byte < 0xC2 || byte > 0xF4 || text.size() < size) return 0;
  const auto rest = text.substr(1, size - 1);
  if (!std::all_of(rest.begin(), rest.end(), continues_utf8)) return 0;
  const auto next = static_cast<unsigned char>(rest[0]);
  const bool controls = byte == 0xC2 && next < 0xA0;
  const bool too_long = (byte == 0xE0 && next < 0xA0) || (byte == 0xF0 && next < 0x90);
  const bool surrogate = byte == 0xED && next >= 0xA0;
  const bool beyond_all = byte == 0xF4 && next >= 0x90;
  return controls || too_long || surrogate || beyond_all ? 0 : size;
}

}  // namespace

bool continues_utf8(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t size = letter_size(text);
    out += size > 0 ? text.substr(0, size) : "?";
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return out;
}

}  // namespace assay
