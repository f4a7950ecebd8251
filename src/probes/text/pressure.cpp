// SPDX-License-Identifier: Apache-2.0
#include "text/pressure.h"

#include "text/fields.h"

#include <assay/base/text.h>

namespace assay::probes {
namespace {

std::optional<double> total_seconds(std::string_view line) {
  constexpr std::string_view kTotal = "total=";
  while (!line.empty()) {
    const std::string_view word = next_word(line);
    if (word.substr(0, kTotal.size()) != kTotal) continue;
    const auto microseconds = parse_uint(word.substr(kTotal.size()));
    if (!microseconds) return std::nullopt;
    return static_cast<double>(*microseconds) * 1e-6;
  }
  return std::nullopt;
}

}  // namespace

Pressure parse_pressure(std::string_view text) {
  Pressure pressure;
  for (std::string_view line; next_line(text, line);) {
    const std::string_view kind = next_word(line);
    if (kind == "some") pressure.waiting_seconds = total_seconds(line);
    if (kind == "full") pressure.stalled_seconds = total_seconds(line);
  }
  return pressure;
}

}  // namespace assay::probes
