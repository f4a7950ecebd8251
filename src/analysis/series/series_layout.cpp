// SPDX-License-Identifier: Apache-2.0
#include "series_layout.h"

#include "number_times.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/base/letters.h>
#include <assay/base/text.h>

namespace assay::analysis {

namespace {

using Cells = std::vector<std::string>;

/// Said for the column of times of a table that has none.
constexpr std::string_view kNone = "none";

struct Column {
  size_t numbers = 0, dates = 0, short_dates = 0, words = 0;
  bool varies = false;

  bool has_numbers() const { return numbers > 0 && numbers >= dates + words; }
  bool are_short() const { return short_dates == dates; }
  bool has_dates() const { return dates > 0 && dates >= numbers + words; }
};

Column column_of(const std::vector<Cells>& rows, size_t skipped, size_t place,
                 const CellReader& reader) {
  Column column;
  const std::string* before = nullptr;
  for (size_t i = skipped; i < rows.size(); ++i) {
    if (rows[i].size() <= place) continue;
    const auto& cell = rows[i][place];
    column.varies = column.varies || (before && cell != *before);
    before = &cell;
    if (reader.is_date(cell)) {
      ++column.dates;
      if (is_short_date(cell)) ++column.short_dates;
    } else if (const auto value = reader.value(cell); !value) {
      ++column.words;
    } else if (std::isfinite(*value)) {
      ++column.numbers;
    }
  }
  return column;
}

bool is_head(const Cells& row, const CellReader& reader) {
  return std::none_of(row.begin(), row.end(),
                      [&](const auto& cell) { return reader.is_date(cell); }) &&
         !reader.value(row.size() > 1 ? row[1] : row[0]);
}

/// 5s, 20d or 14n in every cell: how wide it is, and whether of words, dates or numbers.
bool has_formats(const Cells& row) {
  return std::all_of(row.begin(), row.end(), [](const std::string& cell) {
    const auto text = trim(cell);
    return text.size() > 1 && std::string_view("sdn").find(text.back()) != std::string_view::npos &&
           parse_uint(text.substr(0, text.size() - 1));
  });
}

std::optional<size_t> place_of(const std::string& asked, const Cells& first, bool head) {
  for (size_t i = 0; head && i < first.size(); ++i)
    if (trim(first[i]) == asked) return i;
  const auto number = parse_uint(asked);
  if (!number || *number < 1 || *number > first.size()) return std::nullopt;
  return static_cast<size_t>(*number) - 1;
}

std::string no_column(const std::string& asked, const Cells& first, const SeriesLayout& layout,
                      const std::string& who) {
  constexpr size_t kMostNames = 8;
  std::string names;
  for (size_t i = 0, told = 0; layout.head && i < first.size() && told < kMostNames; ++i) {
    if (i == layout.time) continue;
    names += (told++ ? ", " : "") + printable(trim(first[i]));
  }
  return fmt::format("{} has no column '{}'{}{}", who, asked, names.empty() ? "" : "; there are ",
                     names);
}

/// The only column of dates. The first one is the time also where there are others, and a date that
/// is always the same tells no time where the first one counts, nor do 10.11.12 and the like where
/// only that one is called time.
Result<size_t> found_time(const std::vector<Column>& columns, const Cells& first, bool head,
                          const std::string& who) {
  if (columns[0].has_dates()) return 0;
  const bool first_is_time = head && names_times(first[0]);
  std::vector<size_t> dates;
  for (size_t i = 1; i < columns.size(); ++i)
    if (columns[i].has_dates() &&
        (!columns[0].has_numbers() ||
         (columns[i].varies &&
          !(first_is_time && columns[i].are_short() && !names_times(first[i])))))
      dates.push_back(i);
  if (dates.empty()) return 0;
  if (dates.size() == 1) return dates[0];
  const auto name = [&](size_t i) {
    return head ? printable(trim(first[i])) : std::to_string(i + 1);
  };
  return bad_input(fmt::format("{} has several columns of dates; say --time-column {} or {}", who,
                               name(dates[0]), name(dates[1])));
}

/// The first of numbers behind the times, or of all where there are none.
size_t found_value(const std::vector<Column>& columns, std::optional<size_t> time) {
  const size_t begin = time ? *time + 1 : 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    const size_t place = (begin + i) % columns.size();
    if (place != time && columns[place].has_numbers()) return place;
  }
  return begin % columns.size();
}

Result<void> find_time(SeriesLayout& layout, const std::vector<Column>& columns, const Cells& first,
                       const std::string& asked, const std::string& who) {
  layout.time = place_of(asked, first, layout.head);
  if (!layout.time && asked == kNone) return {};
  if (layout.columns == 1) {
    layout.time.reset();
    if (asked.empty()) return {};
    return bad_input(fmt::format("{} has one column only, and no times beside it", who));
  }
  if (asked.empty()) {
    ASSAY_TRY(layout.time, found_time(columns, first, layout.head, who));
    return {};
  }
  if (!layout.time) return bad_input(no_column(asked, first, layout, who));
  return {};
}

Result<void> find_value(SeriesLayout& layout, const std::vector<Column>& columns,
                        const Cells& first, const SeriesTable& table, const std::string& who) {
  const auto& asked = table.column;
  if (asked.empty()) {
    layout.value = found_value(columns, layout.time);
    return {};
  }
  const auto place = place_of(asked, first, layout.head);
  if (!place) return bad_input(no_column(asked, first, layout, who));
  if (place == layout.time)
    return bad_input(
        fmt::format("{}: column '{}' has the times; --column is for the values{}", who, asked,
                    table.time_column.empty()
                        ? ", and --time-column says where the times are, or none if there are none"
                        : ""));
  layout.value = *place;
  return {};
}

}  // namespace

std::string SeriesLayout::words(bool dates) const {
  if (columns < 2 || (columns == 2 && dates)) return "";
  const auto column = [](size_t place, const std::string& called) {
    return fmt::format("{}{}", place + 1,
                       called.empty() ? "" : fmt::format(" ({})", printable(called)));
  };
  if (!time) return fmt::format("column {}, each row a step", column(value, name));
  return fmt::format("column {} by the times of column {}", column(value, name),
                     column(*time, time_name));
}

Result<SeriesLayout> layout_of(const std::vector<Cells>& rows, const CellReader& reader,
                               const SeriesTable& asked, const std::string& who) {
  const Cells& first = rows[0];
  SeriesLayout layout;
  layout.columns = first.size();
  layout.head = is_head(first, reader);
  if (layout.head) layout.skipped = rows.size() > 1 && has_formats(rows[1]) ? 2 : 1;
  std::vector<Column> columns;
  for (size_t i = 0; i < first.size(); ++i)
    columns.push_back(column_of(rows, layout.skipped, i, reader));
  ASSAY_CHECK(find_time(layout, columns, first, asked.time_column, who));
  ASSAY_CHECK(find_value(layout, columns, first, asked, who));
  if (layout.head) {
    layout.name = trim(first[layout.value]);
    if (layout.time) layout.time_name = trim(first[*layout.time]);
  }
  return layout;
}

}  // namespace assay::analysis
