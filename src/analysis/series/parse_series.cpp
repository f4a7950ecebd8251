// SPDX-License-Identifier: Apache-2.0
#include "comma_numbers.h"
#include "series_cells.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include <assay/analysis/series_analysis.h>
#include <assay/base/csv.h>
#include <assay/base/text.h>

namespace assay::analysis {

namespace {

constexpr size_t kMostValues = 10'000'000;
/// What loggers write where they could not measure: where nothing else is below zero, or where it
/// is so far below all the rest, in ranges of it.
constexpr double kMarks[] = {-999, -9999};
constexpr double kFarBelow = 3;

using Cells = std::vector<std::string>;
using Samples = std::vector<std::pair<double, double>>;

/// For messages: not all of a long cell, and nothing that a terminal would obey.
std::string shown(std::string_view cell) {
  constexpr size_t kMost = 40;
  std::string text(cell.substr(0, kMost));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) >= 0x7F) c = '?';
  return cell.size() > kMost ? text + "..." : text;
}

struct Table {
  std::string_view text;
  size_t lines = 0;  ///< left out before it
};

/// What some programs write above a table begins with #.
Table without_remarks(std::string_view text) {
  Table table{text};
  while (table.text.starts_with('#')) {
    next_field(table.text, '\n');
    ++table.lines;
  }
  return table;
}

/// A tab or a semicolon in the first line stands between cells, and commas within them then.
char separator_of(std::string_view text) {
  const auto line = text.substr(0, text.find('\n'));
  for (const char separator : {'\t', ';'}) {
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == separator && !quoted) return separator;
    }
  }
  return ',';
}

/// Which cell of a row has the value.
Result<size_t> place_of(const std::string& column, const Cells& first, bool head,
                        const std::string& who) {
  if (column.empty()) return first.size() > 1 ? 1 : 0;
  if (head)
    for (size_t i = 0; i < first.size(); ++i)
      if (trim(first[i]) == column) return i;
  const size_t times = first.size() > 1 ? 1 : 0;
  const auto number = parse_uint(column);
  if (number && *number > times && *number <= first.size()) return static_cast<size_t>(*number) - 1;
  std::string names;
  for (size_t i = 1; head && i < std::min<size_t>(first.size(), 9); ++i)
    names += (i > 1 ? ", " : "") + std::string(trim(first[i]));
  return bad_input(names.empty()
                       ? fmt::format("{} has no column '{}'", who, column)
                       : fmt::format("{} has no column '{}'; there are {}", who, column, names));
}

struct Reading {
  std::string who;
  size_t place = 0;
  size_t columns = 1;
  bool timed = false;
  CellReader cells = {};
  bool percent = false;  ///< a value was written with its sign
  bool years = true;     ///< every time may be one
  CommaNumbers commas = {};
  Samples samples = {};
};

Result<void> read_row(Reading& reading, const Cells& cells, size_t line) {
  if (cells.size() <= reading.place)
    return bad_input(fmt::format("{}:{}: the row has {} of {} cells", reading.who, line,
                                 cells.size(), reading.place + 1));
  for (size_t i = reading.columns; i < cells.size(); ++i)
    if (!trim(cells[i]).empty())
      return bad_input(fmt::format(
          "{}:{}: the row has {} cells, the first one {}; decimal commas need tabs or semicolons "
          "between cells, or quotes, and there are none for thousands",
          reading.who, line, cells.size(), reading.columns));
  const auto value = reading.cells.value(cells[reading.place]);
  if (!value)
    return bad_input(
        fmt::format("{}:{}: '{}' is no number", reading.who, line, shown(cells[reading.place])));
  reading.percent = reading.percent || trim(cells[reading.place]).ends_with('%');
  auto time = reading.timed ? reading.cells.time(cells[0])
                            : std::optional(static_cast<double>(reading.samples.size()));
  if (!time)
    return bad_input(
        fmt::format("{}:{}: '{}' is no time; seconds since 1970, 2026-01-31T12:00:00Z, 2026-01-31, "
                    "31.01.2026 12:00 or years are read",
                    reading.who, line, shown(cells[0])));
  if (reading.samples.size() >= kMostValues)
    return bad_input(fmt::format("{} has more than {} values", reading.who, kMostValues));
  reading.years = reading.years && is_year(cells[0]);
  reading.commas.add(cells);
  reading.samples.emplace_back(*time, *value);
  return {};
}

/// Makes marks for missing values missing, where they can be no measurements; how many.
size_t without_marks(Samples& samples) {
  const auto is_mark = [](double value) {
    return std::find(std::begin(kMarks), std::end(kMarks), value) != std::end(kMarks);
  };
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const auto& [time, value] : samples)
    if (std::isfinite(value) && !is_mark(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  size_t count = 0;
  if (low > high) return count;
  for (auto& [time, value] : samples)
    if (is_mark(value) && (low >= 0 || value < low - kFarBelow * (high - low))) {
      value = std::numeric_limits<double>::quiet_NaN();
      ++count;
    }
  return count;
}

/// Whether the head of a column of numbers says that they are no years.
bool counts_seconds(std::string_view head) {
  std::string name(trim(head));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view word : {"sec", "(s)", "[s]", "index", "sample", "step", "row"})
    if (name.find(word) != name.npos) return true;
  return name == "s" || name == "t" || name == "i" || name == "n";
}

/// From a series whose seconds are years.
void count_years(EvenSeries& series) {
  series.start = (series.start - 1970) * kSecondsOfYear;
  series.step_seconds *= kSecondsOfYear;
  series.years = true;
  series.start = series.time(0);
}

Result<EvenSeries> even_steps(Reading reading) {
  if (reading.timed) {
    auto series = evenly(std::move(reading.samples), kMostValues);
    if (!series) return bad_input(fmt::format("{}: {}", reading.who, series.error().message));
    if (reading.years) count_years(*series);
    return series;
  }
  EvenSeries series;
  for (const auto& sample : reading.samples) series.values.push_back(sample.second);
  return series;
}

}  // namespace

Result<EvenSeries> parse_series(std::string_view text, const std::string& who,
                                const std::string& column) {
  const auto rest = without_remarks(text);
  const char separator = separator_of(rest.text);
  CsvRows rows(rest.text, separator);
  Cells cells;
  ASSAY_TRY(bool more, rows.next(cells));
  if (!more) return bad_input(fmt::format("{} is empty: there is no value in it", who));
  Reading reading{who, 0, cells.size(), cells.size() > 1, {separator != ','}};
  const bool head = !reading.cells.value(cells.size() > 1 ? cells[1] : cells[0]);
  ASSAY_TRY(reading.place, place_of(column, cells, head, who));
  std::string name(head ? trim(cells[reading.place]) : "");
  reading.years = !head || !counts_seconds(cells[0]);
  if (!head) ASSAY_CHECK(read_row(reading, cells, rest.lines + rows.line()));
  while (true) {
    ASSAY_TRY(more, rows.next(cells));
    if (!more) break;
    ASSAY_CHECK(read_row(reading, cells, rest.lines + rows.line()));
  }
  if (reading.samples.empty())
    return bad_input(fmt::format("{} has a head, but no value below it", who));
  if (!head && separator == ',' && reading.commas.found(reading.samples))
    return bad_input(fmt::format(
        "every line of {} may be a time and a value, or one number with a comma in it; write "
        "numbers with a point for decimals and nothing for thousands, or a head above a table, as "
        "in time,value",
        who));
  if (reading.percent && name.find('%') == name.npos) name += name.empty() ? "%" : " %";
  const size_t marked = without_marks(reading.samples), count = reading.samples.size();
  ASSAY_TRY(auto series, even_steps(std::move(reading)));
  series.name = std::move(name);
  series.marked = marked;
  series.rows = count;
  return series;
}

}  // namespace assay::analysis
