// SPDX-License-Identifier: Apache-2.0
#include "escape.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <assay/promapi/labels.h>

namespace assay::promapi {
namespace {

// Not U+FFFD, which Prometheus takes in a label and then refuses in a query for it.
constexpr std::string_view kReplacement = "?";

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string sanitized(std::string_view name, bool colons) {
  std::string clean;
  clean.reserve(name.size() + 1);
  if (name.empty() || is_digit(name.front())) clean += '_';
  for (const char c : name) clean += is_letter(c) || is_digit(c) || (colons && c == ':') ? c : '_';
  return clean;
}

bool continues(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<uint8_t>(text[at]) & 0xC0U) == 0x80U;
}

/// How many bytes the first byte of a character announces; 0: it begins none.
size_t announced(uint8_t first) {
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;
  if (first < 0xE0) return 2;
  if (first < 0xF0) return 3;
  return first < 0xF5 ? 4 : 0;
}

/// The bytes of the character at the front; 0: there is none. Overlong forms, surrogates and what
/// is beyond Unicode show in the second byte.
size_t character_bytes(std::string_view text) {
  const auto first = static_cast<uint8_t>(text.front());
  const size_t size = announced(first);
  for (size_t i = 1; i < size; ++i)
    if (!continues(text, i)) return 0;
  if (size < 3) return size;
  const auto second = static_cast<uint8_t>(text[1]);
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return wrong ? 0 : size;
}

}  // namespace

std::string sanitized_name(std::string_view name) {
  return sanitized(name, true);
}

std::string sanitized_label_name(std::string_view name) {
  std::string clean = sanitized(name, false);
  const size_t begin = std::min(clean.find_first_not_of('_'), clean.size());
  if (begin > 1) clean.erase(0, begin - 1);
  return clean;
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t size = character_bytes(text);
    valid += size == 0 ? kReplacement : text.substr(0, size);
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return valid;
}

CleanLabels clean_labels(std::span<const Label> labels) {
  CleanLabels clean;
  clean.reserve(labels.size());
  for (const auto& label : labels)
    if (!label.value.empty())
      clean.emplace_back(sanitized_label_name(label.name), valid_utf8(label.value));
  std::stable_sort(clean.begin(), clean.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto same = std::unique(clean.begin(), clean.end(),
                                [](const auto& a, const auto& b) { return a.first == b.first; });
  clean.erase(same, clean.end());
  return clean;
}

LabelText::LabelText(std::span<const Label> labels) {
  for (const auto& [name, value] : clean_labels(labels)) {
    if (!text_.empty()) text_ += ',';
    text_ += name;
    text_ += "=\"";
    text_.resize(text_.size() + most_escaped(value.size()));
    char* const end = text_.data() + text_.size();
    char* const at = write_escaped(end - most_escaped(value.size()), value, true);
    text_.resize(text_.size() - static_cast<size_t>(end - at));
    text_ += '"';
  }
}

}  // namespace assay::promapi
