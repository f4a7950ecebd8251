// SPDX-License-Identifier: Apache-2.0
#include "row_kinds.h"

#include "value_column.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <assay/base/letters.h>
#include <assay/base/text.h>

namespace assay::analysis {

namespace {

using Cells = std::vector<std::string>;

constexpr size_t kMostLabels = 64;
constexpr double kLargestNumber = 31;

/// What is in a column, as long as it is little.
struct Labels {
  std::map<std::string, size_t, std::less<>> rows;
  size_t known = 0;
  bool many = false;

  void add(std::string_view cell) {
    if (many || cell.empty()) return;
    ++known;
    if (const auto found = rows.find(cell); found != rows.end()) {
      ++found->second;
      return;
    }
    rows.emplace(cell, 1);
    many = rows.size() > kMostLabels;
  }
  size_t most() const { return std::max_element(rows.begin(), rows.end(), has_fewer)->second; }
  size_t fewest() const { return std::min_element(rows.begin(), rows.end(), has_fewer)->second; }

 private:
  using Counted = std::pair<const std::string, size_t>;
  static bool has_fewer(const Counted& a, const Counted& b) { return a.second < b.second; }
};

/// Of words, or of small numbers of which there are as many each; others only where the head says
/// that they are names.
bool may_be_names(const Labels& labels, const Cells& head, size_t place, const CellReader& reader) {
  bool numbers = true, small = true;
  for (const auto& [label, rows] : labels.rows) {
    const auto value = reader.value(label);
    if (!value || !std::isfinite(*value)) {
      numbers = false;
      continue;
    }
    small = small && *value == std::floor(*value) && *value >= 0 && *value <= kLargestNumber;
  }
  if (!numbers || (!head.empty() && counts_or_names(head, place, small))) return true;
  return small && 10 * labels.fewest() >= 9 * labels.most();
}

std::string name_of(const Cells& head, size_t place) {
  const auto name = head.empty() ? "" : printable(trim(head[place]));
  return name.empty() ? fmt::format("column {}", place + 1) : name;
}

std::string kinds_text(const Labels& labels, const std::string& column) {
  constexpr size_t kMostTold = 4, kLongest = 24;
  std::string text;
  size_t told = 0;
  for (const auto& [label, rows] : labels.rows) {
    if (told == kMostTold) break;
    text += (told++ ? ", " : "") + printable(label.substr(0, kLongest));
  }
  if (labels.rows.size() > told) text += fmt::format(" and {} more", labels.rows.size() - told);
  return fmt::format("{} has {} values: {}", column, labels.rows.size(), text);
}

}  // namespace

std::string row_kinds(CsvRows rows, const SeriesLayout& layout, const CellReader& reader,
                      size_t times) {
  std::vector<Labels> columns(layout.columns);
  Cells cells, head;
  size_t count = 0;
  for (size_t row = 0;; ++row) {
    const auto more = rows.next(cells);
    if (!more || !*more) break;
    if (row == 0 && layout.head) head = cells;
    if (row < layout.skipped || cells == head) continue;
    ++count;
    for (size_t i = 0; i < std::min(columns.size(), cells.size()); ++i)
      columns[i].add(trim(cells[i]));
  }
  std::optional<size_t> best;
  const auto is_part = [&](size_t i) {
    return i == layout.time || i == layout.value ||
           std::find(layout.parts.begin(), layout.parts.end(), i) != layout.parts.end();
  };
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto& labels = columns[i];
    if (is_part(i) || labels.many || labels.rows.size() < 2 || 10 * labels.known < 9 * count ||
        !may_be_names(labels, head, i, reader))
      continue;
    // One row of each kind at every time, or a part of what tells the rows apart.
    if (10 * labels.most() <= 11 * times) return kinds_text(labels, name_of(head, i));
    if (2 * labels.fewest() >= labels.most() && (!best || labels.most() < columns[*best].most()))
      best = i;
  }
  return best ? kinds_text(columns[*best], name_of(head, *best)) : "";
}

}  // namespace assay::analysis
