// SPDX-License-Identifier: Apache-2.0
#include "above_table.h"

#include <algorithm>
#include <cmath>

#include <assay/base/text.h>

namespace assay::analysis {

namespace {

using Cells = std::vector<std::string>;

/// Up to the last one that is not empty: spreadsheets fill all rows up with empty ones.
size_t filled_cells(const Cells& row) {
  size_t count = row.size();
  while (count > 0 && trim(row[count - 1]).empty()) --count;
  return count;
}

/// Neither a number nor a date, nor what stands for none.
bool is_word(const std::string& cell, const CellReader& reader) {
  return !reader.value(cell) && !reader.is_date(cell) && !is_clock(cell);
}

/// 5s, 20d or 14n in every cell: how wide it is, and whether of words, dates or numbers.
bool has_formats(const Cells& row) {
  return std::all_of(row.begin(), row.end(), [](const std::string& cell) {
    const auto text = trim(cell);
    return text.size() > 1 && std::string_view("sdn").find(text.back()) != std::string_view::npos &&
           parse_uint(text.substr(0, text.size() - 1));
  });
}

}  // namespace

bool is_head(const Cells& row, const CellReader& reader) {
  return std::none_of(row.begin(), row.end(),
                      [&](const auto& cell) { return reader.is_date(cell); }) &&
         !reader.value(row.size() > 1 ? row[1] : row[0]);
}

size_t rows_above(const std::vector<Cells>& rows, const CellReader& reader) {
  if (rows[0].empty()) return 0;
  const size_t width = filled_cells(rows.back());
  const auto is_other = [&](const Cells& row) {
    const size_t filled = filled_cells(row);
    return filled == 0 || (filled < width && is_word(row[0], reader));
  };
  // A head may be narrower than all of its row, but not have one cell alone.
  if (width < 2 || !is_other(rows[0]) || (rows[0].size() >= width && filled_cells(rows[0]) > 1))
    return 0;
  const auto head = std::find_if_not(rows.begin(), rows.end(), is_other);
  if (head == rows.end() || filled_cells(*head) < width || !is_head(*head, reader) ||
      has_formats(*head))
    return 0;
  return static_cast<size_t>(head - rows.begin());
}

bool is_below_head(const Cells& row, const CellReader& reader) {
  if (has_formats(row)) return true;
  const auto is_value = [&](const std::string& cell) {
    const auto value = reader.value(cell);
    return (value && std::isfinite(*value)) || reader.is_date(cell) || is_clock(cell);
  };
  return row.size() > 1 && std::none_of(row.begin(), row.end(), is_value) &&
         std::any_of(row.begin(), row.end(),
                     [&](const auto& cell) { return is_word(cell, reader); });
}

}  // namespace assay::analysis
