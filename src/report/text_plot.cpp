// SPDX-License-Identifier: Apache-2.0
#include "text_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace assay::report {
namespace {

/// The bit of a dot in a Braille letter, by row and column.
constexpr uint8_t kDots[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

std::string braille(uint8_t dots) {
  return {static_cast<char>(0xE2), static_cast<char>(0xA0 | (dots >> 6)),
          static_cast<char>(0x80 | (dots & 0x3F))};
}

}  // namespace

std::vector<DotColumn> dot_columns(const std::vector<double>& values, size_t count) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::vector<DotColumn> columns(count, {kNone, kNone});
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    auto& column = columns[i * count / values.size()];
    column.low = std::isfinite(column.low) ? std::min(column.low, values[i]) : values[i];
    column.high = std::isfinite(column.high) ? std::max(column.high, values[i]) : values[i];
  }
  return columns;
}

std::vector<std::string> dot_plot(const std::vector<DotColumn>& columns, double low, double high,
                                  size_t lines) {
  const size_t letters = (columns.size() + 1) / 2, rows = 4 * lines;
  std::vector<std::vector<uint8_t>> dots(lines, std::vector<uint8_t>(letters));
  const double scale = high > low ? static_cast<double>(rows - 1) / (high - low) : 0;
  const auto row_of = [&](double value) {
    const double from_bottom =
        std::clamp((value - low) * scale, 0.0, static_cast<double>(rows - 1));
    return rows - 1 - static_cast<size_t>(std::lround(from_bottom));
  };
  for (size_t x = 0; x < columns.size(); ++x) {
    if (!std::isfinite(columns[x].low) || !std::isfinite(columns[x].high)) continue;
    for (size_t y = row_of(columns[x].high); y <= row_of(columns[x].low); ++y)
      dots[y / 4][x / 2] |= kDots[y % 4][x % 2];
  }
  std::vector<std::string> text(lines);
  for (size_t line = 0; line < lines; ++line)
    for (const uint8_t letter : dots[line]) text[line] += letter ? braille(letter) : " ";
  return text;
}

}  // namespace assay::report
