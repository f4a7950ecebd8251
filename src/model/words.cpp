// SPDX-License-Identifier: Apache-2.0
#include "words.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <assay/base/text.h>

namespace assay::model {

std::string brief(double value, std::string_view unit) {
  constexpr std::array<std::pair<double, std::string_view>, 4> kScales = {
      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  for (const auto& [scale, letter] : kScales) {
    if (value >= scale) return fmt::format("{} {}{}", format_number(value / scale), letter, unit);
  }
  return fmt::format("{:.0f}{}{}", value, unit.empty() ? "" : " ", unit);
}

std::string shape_text(const Known& known) {
  if (!known.dims) return "?";
  std::vector<std::string> parts;
  parts.reserve(known.dims->size());
  for (const int64_t dim : *known.dims) parts.push_back(dim < 0 ? "?" : std::to_string(dim));
  return parts.empty() ? "scalar" : fmt::format("{}", fmt::join(parts, "x"));
}

std::string shortened(std::string text, size_t width) {
  // Names are foreign text, and terminals obey control characters.
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7F) c = '?';
  }
  if (text.size() <= width) return text;
  return width < 4 ? text.substr(0, width) : text.substr(0, width - 3) + "...";
}

}  // namespace assay::model
