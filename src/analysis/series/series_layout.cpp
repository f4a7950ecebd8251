// SPDX-License-Identifier: Apache-2.0
#include "series_layout.h"

#include "above_table.h"
#include "number_times.h"
#include "value_column.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <initializer_list>

#include <assay/base/letters.h>
#include <assay/base/text.h>

namespace assay::analysis {

namespace {

using Cells = std::vector<std::string>;

/// Said for the column of times of a table that has none.
constexpr std::string_view kNone = "none";
constexpr double kDay = 86400;
/// So many rows at least have the day of the row before, where a clock is beside them.
constexpr double kFewestRepeats = 0.25;

struct Column {
  size_t numbers = 0, dates = 0, short_dates = 0, words = 0;
  size_t compact = 0, midnights = 0, clocks = 0;
  size_t cells = 0, repeated = 0;
  double low = HUGE_VAL, high = -HUGE_VAL;
  bool varies = false, grows = true, whole = true, minutes = true;

  bool has_numbers() const { return numbers > 0 && numbers >= dates + words; }
  bool are_short() const { return short_dates == dates; }
  bool has_dates() const { return dates > 0 && dates >= numbers + words; }
  bool has_days() const { return has_dates() && midnights == dates; }
  bool has_clocks() const { return clocks > 0 && clocks == words && numbers + dates == 0; }
  bool repeats() const {
    return static_cast<double>(repeated) >= kFewestRepeats * static_cast<double>(cells);
  }
  /// Whether they are whole numbers of this range.
  bool counts(double from, double to) const {
    return numbers > 0 && words + dates == 0 && whole && low >= from && high <= to;
  }
  bool has_compact_dates(bool called_so) const {
    return (called_so || (varies && grows)) && compact > 0 && compact == numbers &&
           words + dates == 0;
  }
};

bool names_dates(std::string_view head) {
  const std::string name = lower_case(head);
  return names_times(head) || name.find("date") != name.npos || name.find("datum") != name.npos;
}

Column column_of(const std::vector<Cells>& rows, size_t skipped, size_t place,
                 const CellReader& reader) {
  Column column;
  std::optional<std::string_view> before;
  for (size_t i = skipped; i < rows.size(); ++i) {
    if (rows[i].size() <= place) continue;
    const auto& cell = rows[i][place];
    const auto text = trim(cell);
    ++column.cells;
    column.varies = column.varies || (before && text != *before);
    column.repeated += text == before;
    column.grows = column.grows && (!before || text > *before);
    before = text;
    if (is_compact_date(cell)) ++column.compact;
    if (is_clock(cell)) ++column.clocks;
    if (reader.is_date(cell)) {
      ++column.dates;
      if (std::fmod(*reader.time(cell), kDay) == 0) ++column.midnights;
      if (is_short_date(cell)) ++column.short_dates;
    } else if (const auto value = reader.value(cell); !value) {
      ++column.words;
    } else if (std::isfinite(*value)) {
      ++column.numbers;
      column.low = std::min(column.low, *value);
      column.high = std::max(column.high, *value);
      column.whole = column.whole && *value == std::floor(*value);
      column.minutes = column.minutes && std::fmod(*value, 100) < 60;
    }
  }
  return column;
}

/// The same where its numbers are dates as 20260131.
Column typed_column(const std::vector<Cells>& rows, const SeriesLayout& layout, size_t place,
                    const CellReader& reader) {
  auto column = column_of(rows, layout.skipped, place, reader);
  if (!column.has_compact_dates(layout.head && names_dates(rows[0][place]))) return column;
  CellReader compact = reader;
  compact.compact = true;
  return column_of(rows, layout.skipped, place, compact);
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
  // InfluxDB has the bounds of what was asked for beside it.
  for (const size_t i : dates)
    if (head && trim(first[i]) == "_time") return i;
  const auto name = [&](size_t i) {
    return head ? printable(trim(first[i])) : std::to_string(i + 1);
  };
  return bad_input(fmt::format("{} has several columns of dates; say --time-column {} or {}", who,
                               name(dates[0]), name(dates[1])));
}

/// The place of a head that is one of these words.
std::optional<size_t> called(const Cells& first, std::initializer_list<std::string_view> words) {
  for (size_t i = 0; i < first.size(); ++i)
    if (std::find(words.begin(), words.end(), lower_case(trim(first[i]))) != words.end()) return i;
  return std::nullopt;
}

std::optional<size_t> hours_of(const Cells& first) {
  return called(first, {"hour", "hr", "stunde"});
}

/// It may be a heart's rate.
bool is_hr(const Cells& first, size_t place) {
  return lower_case(trim(first[place])) == "hr";
}

/// What may be hours or the digits of a clock.
std::optional<size_t> clock_of(const Cells& first) {
  return called(first, {"hour", "hr", "stunde", "time", "zeit", "uhrzeit", "hhmm", "hour (hhmm)",
                        "time (hhmm)", "time (utc)", "hour (utc)"});
}

/// "2026", "60": "2026-03-01"; what is no day of that year as "2026-400".
std::string day_of(std::string_view year, std::string_view day) {
  const auto a_year = parse_uint(year), a_day = parse_uint(day);
  if (a_year && a_day && *a_year <= kLatestYear && *a_day >= 1 && *a_day <= 366) {
    const std::chrono::year in(static_cast<int>(*a_year));
    const auto days = std::chrono::sys_days(in / 1 / 1) + std::chrono::days(*a_day - 1);
    const std::chrono::year_month_day date(days);
    if (date.year() == in)
      return fmt::format("{:04}-{:02}-{:02}", *a_year, static_cast<unsigned>(date.month()),
                         static_cast<unsigned>(date.day()));
  }
  return fmt::format("{}-{}", year, day);
}

/// Days of the year beside years.
bool join_days(SeriesLayout& layout, const std::vector<Column>& columns, const Cells& first,
               size_t year) {
  const auto days =
      called(first, {"doy", "day of year", "dayofyear", "yday", "jday", "julian day"});
  if (!days || !columns[year].counts(kEarliestYear, kLatestYear) || !columns[*days].counts(1, 366))
    return false;
  layout.time = year;
  layout.beside = TimeParts::days;
  layout.parts = {*days};
  if (const auto hours = hours_of(first); hours && columns[*hours].counts(0, 24))
    layout.parts.push_back(*hours);
  return true;
}

/// A date that is spread over columns as Year, Month, Day and Hour.
Result<void> join_year(SeriesLayout& layout, const std::vector<Column>& columns, const Cells& first,
                       const std::string& who) {
  const auto year = called(first, {"year", "yr", "jahr", "yyyy"});
  const auto month = called(first, {"month", "mo", "monat"});
  if (!year || (*year != layout.time && names_times(first[*layout.time]))) return {};
  if (join_days(layout, columns, first, *year) || !month) return {};
  if (!columns[*year].has_numbers() || !columns[*month].has_numbers())
    return bad_input(fmt::format(
        "{} has years in column {} and months in column {}, but not as numbers; write numbers, or "
        "dates as 2026-01-31 in one column",
        who, *year + 1, *month + 1));
  // Beside years it may be molybdenum.
  if (lower_case(trim(first[*month])) == "mo" && !columns[*month].counts(1, 12)) return {};
  layout.time = year;
  layout.beside = TimeParts::months;
  layout.parts = {*month};
  auto hours = hours_of(first);
  if (hours && is_hr(first, *hours) && !columns[*hours].counts(0, 24)) hours.reset();
  for (const auto& part : {called(first, {"day", "dy", "tag"}), hours, called(first, {"minute"})}) {
    if (!part || !columns[*part].has_numbers()) break;
    layout.parts.push_back(*part);
  }
  return {};
}

/// A clock beside days, or hours. One that nobody calls time may be how long something took.
void join_clock(SeriesLayout& layout, const std::vector<Column>& columns, const Cells& first) {
  const auto& days = columns[*layout.time];
  if (!days.has_days()) return;
  const auto join = [&](size_t place, TimeParts what) {
    layout.parts = {place};
    layout.beside = what;
  };
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i].has_clocks() && (days.repeats() || (layout.head && names_times(first[i]))))
      return join(i, TimeParts::clock);
  const auto hour = layout.head && days.repeats() ? clock_of(first) : std::nullopt;
  if (!hour || hour == layout.time) return;
  if (columns[*hour].counts(0, 24))
    join(*hour, TimeParts::hours);
  else if (columns[*hour].counts(0, 2400) && columns[*hour].minutes &&
           !(is_hr(first, *hour) && columns[*hour].counts(0, 259)))
    join(*hour, TimeParts::digits);
}

/// The first of numbers behind the times, or of all where there are none; those that are always the
/// same or hardly are values only where there are no others.
size_t found_value(const std::vector<Column>& columns, const SeriesLayout& layout,
                   const Cells& first, const CsvRows& rows, const CellReader& reader) {
  const auto& time = layout.time;
  const auto& parts = layout.parts;
  const size_t begin = time ? *time + 1 : 0;
  std::optional<size_t> other;
  std::vector<size_t> places;
  const auto hardly_values = [&](size_t place) {
    if (!layout.head) return false;
    return counts_or_names(first, place, false) ||
           (counts_or_names(first, place, true) && are_few(place, rows, layout.skipped, reader));
  };
  for (size_t i = 0; i < columns.size(); ++i) {
    const size_t place = (begin + i) % columns.size();
    if (place == time || !columns[place].has_numbers() ||
        std::find(parts.begin(), parts.end(), place) != parts.end())
      continue;
    if (!hardly_values(place))
      places.push_back(place);
    else if (!other)
      other = place;
  }
  if (places.empty()) return other.value_or(begin % columns.size());
  // What is used may be idle all the time.
  if (layout.head && full_of(first[places[0]], {})) return places[0];
  return first_that_varies(places, rows, layout.skipped, reader);
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

Result<void> place_value(SeriesLayout& layout, const Cells& first, const SeriesTable& table,
                         const std::string& who) {
  const auto& asked = table.column;
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
  std::string times = (parts.empty() ? " " : "s ") + column(*time, time_name);
  for (size_t i = 0; i < parts.size(); ++i)
    times += (i + 1 < parts.size() ? ", " : " and ") + column(parts[i], part_names[i]);
  return fmt::format("column {} by the times of column{}", column(value, name), times);
}

std::string SeriesLayout::time_text(const Cells& cells) const {
  if (parts.empty()) return cells[*time];
  // Without it, a row would be at the begin of its day, month or year.
  const auto part = [&](size_t i, std::string_view none) {
    if (i >= parts.size()) return none;
    const auto cell = trim(cells[parts[i]]);
    return cell.empty() ? "??" : cell;
  };
  const auto with_hour = [&](const std::string& day, size_t i) {
    return parts.size() <= i ? day
                             : fmt::format("{} {:0>2}:{:0>2}", day, part(i, ""), part(i + 1, "0"));
  };
  const auto years = trim(cells[*time]);
  if (beside == TimeParts::months)
    return with_hour(fmt::format("{}-{:0>2}-{:0>2}", years, part(0, ""), part(1, "1")), 2);
  if (beside == TimeParts::days) return with_hour(day_of(years, part(0, "")), 1);
  // Spreadsheets write midnight behind a day.
  const auto day = std::string(years.substr(0, years.find_first_of(" T")));
  if (beside == TimeParts::hours) return with_hour(day, 0);
  auto clock = std::string(part(0, ""));
  if (beside == TimeParts::digits) clock = fmt::format("{:0>4}", clock).insert(2, 1, ':');
  return day + " " + clock;
}

Result<SeriesLayout> layout_of(const std::vector<Cells>& rows, const CsvRows& all,
                               const CellReader& reader, const SeriesTable& asked,
                               const std::string& who) {
  const Cells& first = rows[0];
  SeriesLayout layout;
  layout.columns = first.size();
  layout.head = is_head(first, reader);
  if (layout.head) layout.skipped = rows.size() > 2 && is_below_head(rows[1], reader) ? 2 : 1;
  std::vector<Column> columns;
  for (size_t i = 0; i < first.size(); ++i)
    columns.push_back(typed_column(rows, layout, i, reader));
  ASSAY_CHECK(find_time(layout, columns, first, asked.time_column, who));
  if (layout.time) {
    layout.compact = columns[*layout.time].has_dates() && columns[*layout.time].compact > 0;
    join_clock(layout, columns, first);
    if (layout.head && asked.time_column.empty() && !columns[*layout.time].has_dates())
      ASSAY_CHECK(join_year(layout, columns, first, who));
  }
  if (asked.column.empty())
    layout.value = found_value(columns, layout, first, all, reader);
  else
    ASSAY_CHECK(place_value(layout, first, asked, who));
  if (layout.head) {
    layout.name = trim(first[layout.value]);
    if (layout.time) layout.time_name = trim(first[*layout.time]);
  }
  for (const size_t part : layout.parts)
    layout.part_names.emplace_back(layout.head ? trim(first[part]) : "");
  return layout;
}

}  // namespace assay::analysis
