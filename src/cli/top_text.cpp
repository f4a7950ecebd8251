// SPDX-License-Identifier: Apache-2.0
#include "top_text.h"

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <cwchar>
#include <langinfo.h>

namespace assay::cli {
namespace {

struct Character {
  size_t bytes = 1;
  int columns = -1;  ///< -1: nothing that may be shown
};

Character first_character(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte < 0x80) return {1, byte >= 0x20 && byte != 0x7F ? 1 : -1};
  std::mbstate_t state{};
  wchar_t wide = 0;
  const size_t bytes = std::mbrtowc(&wide, text.data(), text.size(), &state);
  if (bytes >= 1 && bytes <= text.size()) return {bytes, ::wcwidth(wide)};
  size_t skipped = 1;
  while (skipped < text.size() && (static_cast<unsigned char>(text[skipped]) & 0xC0U) == 0x80U)
    ++skipped;
  return {skipped, -1};
}

}  // namespace

bool use_environment_characters() {
  const bool known = std::setlocale(LC_CTYPE, "") != nullptr;
  if (known && std::string_view(::nl_langinfo(CODESET)) == "UTF-8") return true;
  std::setlocale(LC_CTYPE, "C");
  return false;
}

std::string safe_text(std::string_view foreign) {
  std::string safe;
  while (!foreign.empty()) {
    const Character c = first_character(foreign);
    if (c.columns > 0) safe += foreign.substr(0, c.bytes);
    if (c.columns < 0) safe += '?';
    foreign.remove_prefix(c.bytes);
  }
  return safe;
}

size_t text_columns(std::string_view safe) {
  size_t columns = 0;
  while (!safe.empty()) {
    const Character c = first_character(safe);
    columns += static_cast<size_t>(std::max(0, c.columns));
    safe.remove_prefix(c.bytes);
  }
  return columns;
}

std::string_view text_beginning(std::string_view safe, size_t columns) {
  size_t bytes = 0;
  while (bytes < safe.size()) {
    const Character c = first_character(safe.substr(bytes));
    const auto wide = static_cast<size_t>(std::max(0, c.columns));
    if (wide > columns) break;
    columns -= wide;
    bytes += c.bytes;
  }
  return safe.substr(0, bytes);
}

std::string left_cell(std::string_view safe, size_t columns) {
  const bool cut = columns > 0 && text_columns(safe) > columns;
  std::string cell(text_beginning(safe, cut ? columns - 1 : columns));
  if (cut) cell += MB_CUR_MAX > 1 ? "…" : "~";
  return cell.append(columns - text_columns(cell), ' ');
}

std::string right_cell(std::string_view safe, size_t columns) {
  const std::string_view kept = text_beginning(safe, columns);
  return std::string(columns - text_columns(kept), ' ').append(kept);
}

}  // namespace assay::cli
