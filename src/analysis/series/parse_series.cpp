// SPDX-License-Identifier: Apache-2.0
#include "above_table.h"
#include "comma_numbers.h"
#include "day_place.h"
#include "missing_marks.h"
#include "no_numbers.h"
#include "number_times.h"
#include "row_kinds.h"
#include "series_layout.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/analysis/series_analysis.h>
#include <assay/base/csv.h>
#include <assay/base/letters.h>
#include <assay/base/text.h>
#include <assay/base/wording.h>

namespace assay::analysis {

namespace {

constexpr size_t kMostValues = 10'000'000;

/// Numbers count seconds since 1970 when they begin so far from it, in 1973 or before 1966; nearer
/// to it they may count from anything. Farther away nothing can be told as a date.
constexpr double kFarFrom1970 = 1e8, kFarthestDate = 9.22e9;

using Cells = std::vector<std::string>;
using Samples = std::vector<std::pair<double, double>>;

struct Table {
  std::string_view text;
  size_t lines = 0;    ///< left out before it
  char separator = 0;  ///< as a line of Excel above it says; 0: none does
};

Result<void> check_encoding(std::string_view text, const std::string& who) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return bad_input(fmt::format(
        "{} is text in UTF-16, as some programs of Windows save it; save it as CSV in UTF-8, or "
        "convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW",
        who));
  const size_t nul = text.find('\0');
  if (nul == text.npos) return {};
  return bad_input(fmt::format(
      "{}:{}: there is a NUL byte, which no text has; the file is of another kind, or its writing "
      "was cut off there",
      who, 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(nul), '\n')));
}

/// Excel's sep=; above a table.
void take_separator(Table& table) {
  constexpr std::string_view kWord = "sep=";
  auto line = table.text.substr(0, table.text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() != kWord.size() + 1 || lower_case(line.substr(0, kWord.size())) != kWord ||
      std::string_view(",;\t").find(line.back()) == std::string_view::npos)
    return;
  table.separator = line.back();
  next_field(table.text, '\n');
  ++table.lines;
}

/// What some programs write above a table begins with #.
Table without_remarks(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Table table{text};
  take_separator(table);
  while (table.text.starts_with('#')) {
    next_field(table.text, '\n');
    ++table.lines;
  }
  return table;
}

char separator_in(std::string_view line) {
  for (const char separator : {'\t', ';'}) {
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == separator && !quoted) return separator;
    }
  }
  return ',';
}

/// So many rows tell what the table is like.
constexpr size_t kFirstRows = 100;

/// A tab or a semicolon in the first line stands between cells, and commas within them then; in a
/// later one, where that has one cell alone and may be above the table.
char separator_of(std::string_view text) {
  auto line = next_field(text, '\n');
  if (line.find_first_of("\t;,") != line.npos) return separator_in(line);
  for (size_t i = 1; i < kFirstRows && !text.empty(); ++i)
    if (const auto next = next_field(text, '\n'); !trim(next).empty()) line = next;
  return separator_in(line);
}

struct Reading {
  std::string who;
  SeriesLayout layout = {};
  CellReader cells = {};
  std::vector<Cells> heads = {};  ///< what is above the values
  size_t heads_again = 0;         ///< among the values, as where tables were put together
  size_t marked = 0;              ///< by what the caller said
  bool percent = false;           ///< a value was written with its sign
  bool years = true;              ///< every time may be one
  bool dates = false;             ///< a time was written as a date
  CommaNumbers commas = {};
  PointNumbers points = {};
  NoNumbers no_numbers = {};
  NumberTimes times = {};
  ShortDates short_dates = {};
  Samples samples = {};
};

Result<void> check_cells(const Reading& reading, const Cells& cells, size_t line) {
  const auto& layout = reading.layout;
  if (cells.size() <= layout.last())
    return bad_input(fmt::format("{}:{}: the row has {} of {} cells", reading.who, line,
                                 cells.size(), layout.last() + 1));
  for (size_t i = layout.columns; i < cells.size(); ++i)
    if (!trim(cells[i]).empty())
      return bad_input(fmt::format(
          "{}:{}: the row has {} cells, the first one {}; decimal commas need tabs or semicolons "
          "between cells, or quotes, and there are none for thousands",
          reading.who, line, cells.size(), layout.columns));
  return {};
}

Result<double> time_of(const Reading& reading, const Cells& cells, size_t line) {
  if (!reading.layout.time) return static_cast<double>(reading.samples.size());
  const auto cell = reading.layout.time_text(cells);
  if (const auto time = reading.cells.time(cell)) return *time;
  if (is_clock(cell))
    return bad_input(fmt::format(
        "{}:{}: {} is a time of no day; write days before it, as 2026-01-31 {}, or numbers of "
        "seconds, or say --time-column none where each row is a step",
        reading.who, line, in_quotes(trim(cell)), trim(cell)));
  return bad_input(
      fmt::format("{}:{}: {} is no time; seconds since 1970, dates from 1678 on as "
                  "2026-01-31T12:00:00Z, 2026-01-31, "
                  "31.01.2026 12:00 or 01/31/2026, and years are read{}",
                  reading.who, line, in_quotes(trim(cell)),
                  reading.layout.columns > 2 ? ", and --time-column says in which column" : ""));
}

void add_time(Reading& reading, const std::string& cell) {
  reading.short_dates.add(cell);
  reading.years = reading.years && is_year(cell);
  reading.dates = reading.dates || reading.cells.is_date(cell);
}

Result<void> read_row(Reading& reading, const Cells& cells, size_t line) {
  if (std::find(reading.heads.begin(), reading.heads.end(), cells) != reading.heads.end()) {
    ++reading.heads_again;
    return {};
  }
  ASSAY_CHECK(check_cells(reading, cells, line));
  const auto& cell = cells[reading.layout.value];
  const auto value = reading.cells.value(cell);
  if (!value) {
    reading.no_numbers.add(cell, line);
    return {};
  }
  reading.percent = reading.percent || trim(cell).ends_with('%');
  if (reading.cells.is_marked(cell)) ++reading.marked;
  ASSAY_TRY(const double time, time_of(reading, cells, line));
  if (reading.samples.size() >= kMostValues)
    return bad_input(fmt::format("{} has more than {} values", reading.who, kMostValues));
  if (reading.layout.time) add_time(reading, reading.layout.time_text(cells));
  reading.commas.add(cells);
  if (std::isfinite(*value)) reading.points.add(cell, line);
  reading.times.add(time, line);
  reading.samples.emplace_back(time, *value);
  return {};
}

/// Whether the head of a column of numbers says that they are no years.
bool counts_seconds(std::string_view head) {
  const std::string name = lower_case(trim(head));
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

/// All numbers of a table have one unit, which those that are near to 1970 do not show; how many
/// are a second. Numbers between dates go by themselves.
double count_seconds(Samples& samples, bool dates) {
  double farthest = 0;
  for (const auto& [time, value] : samples)
    if (std::isfinite(time)) farthest = std::max(farthest, std::abs(time));
  const double units = units_of_second(farthest);
  if (units > 1)
    for (auto& [time, value] : samples) time /= dates ? units_of_second(std::abs(time)) : units;
  return units;
}

double first_time(const Samples& samples) {
  double first = HUGE_VAL;
  for (const auto& [time, value] : samples)
    if (std::isfinite(time)) first = std::min(first, time);
  return first;
}

Result<EvenSeries> even_steps(Reading reading) {
  if (reading.layout.time) {
    const bool far = count_seconds(reading.samples, reading.dates) > 1;
    const double from_1970 = std::abs(first_time(reading.samples));
    const bool since_1970 = reading.dates || far || from_1970 >= kFarFrom1970;
    const bool dated = since_1970 && from_1970 <= kFarthestDate;
    auto series = evenly(std::move(reading.samples), kMostValues, dated && !reading.years, true);
    if (!series) return bad_input(fmt::format("{}: {}", reading.who, series.error().message));
    series->dated = reading.years || dated;
    if (reading.years) count_years(*series);
    if (!series->dated && counts_rows(reading.layout.time_name))
      series->start = series->step_seconds = 0;
    return series;
  }
  EvenSeries series;
  for (const auto& sample : reading.samples) series.values.push_back(sample.second);
  return series;
}

Result<bool> next_row(CsvRows& rows, Cells& cells, const std::string& who) {
  auto more = rows.next(cells);
  if (!more) return bad_input(fmt::format("{}: {}", who, more.error().message));
  return more;
}

Result<std::vector<Cells>> first_rows(CsvRows rows, const std::string& who) {
  std::vector<Cells> first;
  Cells cells;
  while (first.size() < kFirstRows) {
    ASSAY_TRY(const bool more, next_row(rows, cells, who));
    if (!more) break;
    first.push_back(cells);
  }
  return first;
}

/// Rows above the table.
Result<void> leave_out(CsvRows& rows, std::vector<Cells>& first, size_t above,
                       const std::string& who) {
  Cells cells;
  for (size_t i = 0; i < above; ++i) ASSAY_CHECK(next_row(rows, cells, who));
  first.erase(first.begin(), first.begin() + static_cast<ptrdiff_t>(above));
  return {};
}

/// What was not read as values.
std::string left_out_text(size_t above, const Reading& reading) {
  const auto lines = [](size_t count) {
    return fmt::format("{} line{}", count, count == 1 ? "" : "s");
  };
  std::vector<std::string> parts;
  if (above > 0) parts.push_back(lines(above) + " of other text above the table");
  if (reading.layout.skipped > 1) parts.emplace_back("the line below its head");
  if (const size_t again = reading.heads_again; again > 0)
    parts.push_back(fmt::format("{} that repeat{} its head", lines(again), again == 1 ? "s" : ""));
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "without " : i + 1 < parts.size() ? ", " : " and ") + parts[i];
  return text;
}

/// Below the first row, so that columns are known by their values.
void leave_out_heads(std::vector<Cells>& first, const CellReader& reader) {
  if (is_head(first[0], reader))
    first.erase(std::remove(first.begin() + 1, first.end(), Cells(first[0])), first.end());
}

Result<void> read_all(Reading& reading, CsvRows rows) {
  Cells cells;
  for (size_t i = 0;; ++i) {
    ASSAY_TRY(const bool more, next_row(rows, cells, reading.who));
    if (!more) return {};
    if (i >= reading.layout.skipped) ASSAY_CHECK(read_row(reading, cells, rows.line()));
  }
}

Result<void> read_rows(Reading& reading, const CsvRows& rows) {
  auto read = read_all(reading, rows);
  // What came first is told first.
  if (!reading.no_numbers.empty()) return bad_input(reading.no_numbers.text(reading.who));
  ASSAY_CHECK(std::move(read));
  if (reading.samples.empty())
    return bad_input(fmt::format("{} has a head, but no value below it", reading.who));
  return {};
}

/// That nothing was taken for a table that is none.
Result<void> check_commas(const Reading& reading, const SeriesTable& asked) {
  if (reading.layout.head || reading.cells.decimal_comma || !asked.time_column.empty() ||
      !reading.commas.found(reading.samples))
    return {};
  return bad_input(fmt::format(
      "every line of {} may be a time and a value, or one number with a comma in it; write "
      "numbers with a point for decimals and nothing for thousands, or a head above a table, as "
      "in time,value",
      reading.who));
}

/// That a thousand was not taken for one.
Result<void> check_points(const Reading& reading, char separator) {
  if (separator != ';' || !reading.points.found()) return {};
  return bad_input(fmt::format(
      "{}:{}: {} may have a point for thousands or for decimals, as others have none; write "
      "nothing for thousands, and decimals with a comma, or as many in all rows",
      reading.who, reading.points.first_line(), in_quotes(reading.points.first())));
}

/// That values of another kind were not taken for times.
Result<void> check_times(const Reading& reading, const SeriesTable& asked) {
  const auto& layout = reading.layout;
  if (!layout.time || reading.dates || !asked.time_column.empty() || names_times(layout.time_name))
    return {};
  const auto doubt = reading.times.doubt(reading.samples, layout.head);
  if (doubt.empty()) return {};
  return bad_input(fmt::format(
      "{}: {} is no time: {}; say in which column times are, as in --time-column {}, or "
      "--time-column none where there are none and each row is a step, and --column for the values",
      reading.who,
      layout.time_name.empty() ? fmt::format("column {}", *layout.time + 1)
                               : in_quotes(layout.time_name),
      doubt, *layout.time + 1));
}

/// That days as spreadsheets count them, from 1900 on, were not taken for seconds.
Result<void> check_serials(const Reading& reading) {
  const std::string& head = reading.layout.time_name;
  if (reading.dates || !may_be_serials(reading.samples, head)) return {};
  return bad_input(fmt::format(
      "{}: {} has numbers as {:.9g}, which may be days as spreadsheets count them; save the column "
      "as dates, 2026-01-31 12:00, or name it otherwise where they are seconds",
      reading.who, in_quotes(head), reading.samples.front().first));
}

/// That times of a day were not taken for dates.
Result<void> check_dates(const Reading& reading) {
  if (!reading.short_dates.may_be_clocks()) return {};
  return bad_input(fmt::format(
      "{}: {} may be a date or a time of day, since only its last number differs from those of "
      "other rows; write years with four digits, or times as 2026-01-31 10:05:00",
      reading.who, in_quotes(reading.short_dates.last())));
}

std::string marks_text(std::vector<std::string> marks, const std::vector<std::string>& found) {
  marks.insert(marks.end(), found.begin(), found.end());
  std::string text;
  for (size_t i = 0; i < marks.size(); ++i)
    text += (i == 0 ? "" : i + 1 < marks.size() ? ", " : " or ") + marks[i];
  return text;
}

}  // namespace

Result<EvenSeries> parse_series(std::string_view text, const std::string& who,
                                const SeriesTable& table) {
  ASSAY_CHECK(check_encoding(text, who));
  const auto rest = without_remarks(text);
  const char separator = rest.separator ? rest.separator : separator_of(rest.text);
  CsvRows rows(rest.text, separator, rest.lines);
  ASSAY_TRY(auto first, first_rows(rows, who));
  if (first.empty()) return bad_input(fmt::format("{} is empty: there is no value in it", who));
  Reading reading{who, {}, {separator != ',', table.missing}};
  const size_t above = rows_above(first, reading.cells);
  ASSAY_CHECK(leave_out(rows, first, above, who));
  leave_out_heads(first, reading.cells);
  ASSAY_TRY(reading.layout, layout_of(first, rows, reading.cells, table, who));
  reading.heads.assign(first.begin(),
                       first.begin() + static_cast<ptrdiff_t>(reading.layout.skipped));
  reading.cells.compact = reading.layout.compact;
  ASSAY_TRY(reading.cells.day, day_place(first, rows, reading.layout, who));
  const auto& times = reading.layout.time_name;
  reading.years = reading.layout.time && !counts_seconds(times) && !counts_rows(times);
  ASSAY_CHECK(read_rows(reading, rows));
  ASSAY_CHECK(check_commas(reading, table));
  ASSAY_CHECK(check_points(reading, separator));
  ASSAY_CHECK(check_times(reading, table));
  ASSAY_CHECK(check_dates(reading));
  ASSAY_CHECK(check_serials(reading));
  std::string name = reading.layout.name;
  if (reading.percent && name.find('%') == name.npos) name += name.empty() ? "%" : " %";
  const auto found = without_marks(reading.samples);
  const size_t count = reading.samples.size(), said = reading.marked;
  auto columns = reading.layout.words(reading.dates);
  const auto left_out = left_out_text(above, reading);
  if (!left_out.empty()) columns += (columns.empty() ? "" : ", ") + left_out;
  const auto layout = reading.layout;
  const auto cells = reading.cells;
  ASSAY_TRY(auto series, even_steps(std::move(reading)));
  series.name = std::move(name);
  series.marked = said + found.count;
  series.marks = marks_text(said ? table.missing : std::vector<std::string>(), found.marks);
  series.rows = count;
  if (count > series.values.size())
    series.kinds = row_kinds(rows, layout, cells, series.values.size());
  series.columns = std::move(columns);
  return series;
}

}  // namespace assay::analysis
