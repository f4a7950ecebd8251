// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include <assay/analysis/series_analysis.h>
#include <assay/base/csv.h>
#include <assay/base/text.h>
#include <assay/base/time.h>

namespace assay::analysis {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
/// Seconds since 1970 have fewer digits for the next thousands of years; the same holds for
/// milliseconds and microseconds.
constexpr double kMilliseconds = 1e11, kMicroseconds = 1e14, kNanoseconds = 1e17;
constexpr size_t kMostValues = 10'000'000;

using Cells = std::vector<std::string>;

bool is_missing(std::string_view text) {
  constexpr std::string_view kWords[] = {"",     "nan", "null", "na",   "n/a",
                                         "none", "inf", "+inf", "-inf", "[n/a]"};
  std::string lower(trim(text));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(std::begin(kWords), std::end(kWords), lower) != std::end(kWords);
}

/// Also with one of the units that nvidia-smi writes.
std::optional<double> value_of(const std::string& cell) {
  if (is_missing(cell)) return kMissing;
  std::string_view text = trim(cell);
  for (const std::string_view unit : {"%", " MiB", " W", " MHz"})
    if (text.ends_with(unit)) {
      text.remove_suffix(unit.size());
      break;
    }
  return parse_double(trim(text));
}

std::optional<double> time_of(const std::string& cell) {
  const std::string_view text = trim(cell);
  if (const auto number = parse_double(text)) {
    const double count = *number;
    if (count <= kMilliseconds) return count;
    return count / (count > kNanoseconds ? 1e9 : count > kMicroseconds ? 1e6 : 1e3);
  }
  std::string iso(text);
  if (iso.size() > 10 && iso[10] == ' ') iso[10] = 'T';
  if (iso.size() > 10 && iso[4] == '/' && iso[7] == '/') iso[4] = iso[7] = '-';
  const bool zoned = iso.ends_with('Z') || iso.find_first_of("+", 10) != std::string::npos ||
                     iso.find('-', std::min<size_t>(iso.size(), 11)) != std::string::npos;
  if (!zoned) iso += iso.size() == 16 ? ":00Z" : "Z";
  const auto time = parse_utc(iso);
  if (!time) return std::nullopt;
  return seconds(time->time_since_epoch());
}

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

/// Of tables without a comma in their first line, the one that stands there instead.
char separator_of(std::string_view text) {
  const auto line = text.substr(0, text.find('\n'));
  for (const char separator : {',', '\t', ';'})
    if (line.find(separator) != line.npos) return separator;
  return ',';
}

/// Which cell of a row has the value.
Result<size_t> place_of(const std::string& column, const Cells& first, bool head,
                        const std::string& who) {
  if (column.empty()) return first.size() > 1 ? 1 : 0;
  if (head)
    for (size_t i = 0; i < first.size(); ++i)
      if (trim(first[i]) == column) return i;
  const auto number = parse_uint(column);
  if (number && *number >= 1 && *number < first.size()) return static_cast<size_t>(*number);
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
  bool timed = false;
  std::vector<std::pair<double, double>> samples = {};
};

Result<void> read_row(Reading& reading, const Cells& cells, size_t line) {
  if (cells.size() <= reading.place)
    return bad_input(fmt::format("{}:{}: the row has {} of {} cells", reading.who, line,
                                 cells.size(), reading.place + 1));
  const auto value = value_of(cells[reading.place]);
  if (!value)
    return bad_input(
        fmt::format("{}:{}: '{}' is no number", reading.who, line, shown(cells[reading.place])));
  auto time = reading.timed ? time_of(cells[0])
                            : std::optional(static_cast<double>(reading.samples.size()));
  if (!time)
    return bad_input(
        fmt::format("{}:{}: '{}' is no time; seconds since 1970 or 2026-01-31T12:00:00Z are read",
                    reading.who, line, shown(cells[0])));
  if (reading.samples.size() >= kMostValues)
    return bad_input(fmt::format("{} has more than {} values", reading.who, kMostValues));
  reading.samples.emplace_back(*time, *value);
  return {};
}

}  // namespace

Result<EvenSeries> parse_series(std::string_view text, const std::string& who,
                                const std::string& column) {
  const auto rest = without_remarks(text);
  CsvRows rows(rest.text, separator_of(rest.text));
  Cells cells;
  ASSAY_TRY(bool more, rows.next(cells));
  if (!more) return bad_input(fmt::format("{} is empty: there is no value in it", who));
  const bool head = !value_of(cells.size() > 1 ? cells[1] : cells[0]);
  Reading reading{who, 0, cells.size() > 1};
  ASSAY_TRY(reading.place, place_of(column, cells, head, who));
  if (!head) ASSAY_CHECK(read_row(reading, cells, rest.lines + rows.line()));
  while (true) {
    ASSAY_TRY(more, rows.next(cells));
    if (!more) break;
    ASSAY_CHECK(read_row(reading, cells, rest.lines + rows.line()));
  }
  if (reading.samples.empty())
    return bad_input(fmt::format("{} has a head, but no value below it", who));
  if (reading.timed) {
    auto series = evenly(std::move(reading.samples), kMostValues);
    if (!series) return bad_input(fmt::format("{}: {}", who, series.error().message));
    return series;
  }
  EvenSeries series;
  for (const auto& sample : reading.samples) series.values.push_back(sample.second);
  return series;
}

}  // namespace assay::analysis
