// SPDX-License-Identifier: Apache-2.0
#include "text/fields.h"

#include <assay/base/text.h>

namespace assay::probes {

bool next_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  line = next_field(text, '\n');
  return true;
}

std::string_view next_word(std::string_view& line) {
  const size_t first = line.find_first_not_of(" \t");
  if (first == line.npos) return line = {};
  line.remove_prefix(first);
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

std::optional<uint64_t> next_uint(std::string_view& line) {
  return parse_uint(next_word(line));
}

void skip_words(std::string_view& line, int count) {
  for (int i = 0; i < count; ++i) next_word(line);
}

std::optional<std::string_view> keyed_text(std::string_view text, std::string_view key) {
  for (size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
    const size_t end = at + key.size();
    const bool whole = (at == 0 || text[at - 1] == '\n') && end < text.size() &&
                       (text[end] == ' ' || text[end] == ':' || text[end] == '\t');
    if (!whole) continue;
    std::string_view rest = text.substr(end, text.find('\n', end) - end);
    rest = trim(rest);
    if (!rest.empty() && rest.front() == ':') rest = trim(rest.substr(1));
    return rest;
  }
  return std::nullopt;
}

std::optional<uint64_t> keyed_uint(std::string_view text, std::string_view key) {
  auto rest = keyed_text(text, key);
  if (!rest) return std::nullopt;
  return next_uint(*rest);
}

}  // namespace assay::probes
