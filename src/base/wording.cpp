// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <assay/base/letters.h>
#include <assay/base/text.h>
#include <assay/base/wording.h>

namespace assay {
namespace {

constexpr size_t kLongestSuggested = 40;

}  // namespace

std::string in_quotes(std::string_view text, size_t most) {
  size_t size = std::min(text.size(), most);
  while (size > 0 && size < text.size() && continues_utf8(text[size])) --size;
  return fmt::format("'{}{}'", printable(text.substr(0, size)), size < text.size() ? "…" : "");
}

bool is_one_slip(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) {
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a.remove_suffix(1);
    b.remove_suffix(1);
  }
  if (a.size() <= 1 && b.size() <= 1) return true;
  return a.size() == 2 && b.size() == 2 && a[0] == b[1] && a[1] == b[0];
}

std::string suggestion(std::string_view word, std::span<const std::string_view> candidates) {
  for (const auto candidate : candidates) {
    if (is_one_slip(word, candidate)) return fmt::format("; did you mean '{}'?", candidate);
  }
  if (word.size() <= kLongestSuggested) {
    if (const auto near = nearest(word, candidates))
      return fmt::format("; did you mean '{}'?", *near);
  }
  return fmt::format("; choose of: {}", fmt::join(candidates, ", "));
}

}  // namespace assay
