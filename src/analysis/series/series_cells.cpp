// SPDX-License-Identifier: Apache-2.0
#include "series_cells.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include <assay/base/letters.h>
#include <assay/base/text.h>
#include <assay/base/time.h>

namespace assay::analysis {

namespace {

constexpr double kDay = 86400;
constexpr int kFirstYear = 1678;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
/// Seconds since 1970 have fewer digits for the next thousands of years; the same holds for
/// milliseconds and microseconds.
constexpr double kMilliseconds = 1e11, kMicroseconds = 1e14, kNanoseconds = 1e17;

bool is_missing(std::string_view text) {
  // Those in brackets are of nvidia-smi.
  constexpr std::string_view kWords[] = {"",
                                         "nan",
                                         "null",
                                         "na",
                                         "n/a",
                                         "none",
                                         "inf",
                                         "+inf",
                                         "-inf",
                                         "-",
                                         "--",
                                         "?",
                                         "[n/a]",
                                         "[unknown error]",
                                         "[not supported]",
                                         "[insufficient permissions]",
                                         "[gpu requires reset]",
                                         "[gpu is lost]"};
  return std::find(std::begin(kWords), std::end(kWords), lower_case(trim(text))) !=
         std::end(kWords);
}

/// Also where one of them was rounded, as fill values of 1e36 are.
bool are_same(double value, double mark) {
  constexpr double kHuge = 1e30, kRounded = 1e-5;
  if (std::abs(mark) < kHuge) return value == mark;
  return std::abs(value / mark - 1) < kRounded;
}

/// Three numbers, as in 31.1.2026.
struct DateParts {
  unsigned numbers[3] = {};
  size_t digits[3] = {};
  char separator = 0;
  std::string_view rest;  ///< behind them
};

std::optional<DateParts> date_parts(std::string_view text) {
  DateParts parts;
  for (size_t i = 0; i < 3; ++i) {
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), parts.numbers[i]);
    if (error != std::errc()) return {};
    parts.digits[i] = static_cast<size_t>(end - text.data());
    text.remove_prefix(parts.digits[i]);
    if (i == 2) break;
    if (text.empty() || (i == 1 && text[0] != parts.separator)) return {};
    parts.separator = text[0];
    text.remove_prefix(1);
  }
  parts.rest = text;
  return parts;
}

bool is_slashed(const DateParts& parts) {
  return (parts.separator == '/' || parts.separator == '-') && parts.digits[0] <= 2 &&
         parts.digits[1] <= 2 && parts.digits[2] == 4;
}

/// Of two digits, where there is hardly a doubt which century they are of, and 1.2.10 is a version.
std::optional<unsigned> year_of(const DateParts& parts) {
  constexpr unsigned kFirstOf1900s = 70, kLastOf2000s = 39;
  const unsigned year = parts.numbers[2];
  if (parts.digits[2] == 4) return year;
  if (std::count(parts.digits, parts.digits + 3, 2) < 3 ||
      (year > kLastOf2000s && year < kFirstOf1900s))
    return {};
  return year + (year <= kLastOf2000s ? 2000 : 1900);
}

/// 31.1.2026 or 1/31/2026 with anything behind it as 2026-01-31; empty when it is none.
std::string turned_date(std::string_view text, DayPlace day) {
  const auto parts = date_parts(text);
  if (!parts) return "";
  const bool pointed = parts->separator == '.' && parts->digits[0] <= 2 && parts->digits[1] <= 2;
  if (!pointed && !is_slashed(*parts)) return "";
  const auto year = year_of(*parts);
  if (!year) return "";
  const auto [one, two, three] = parts->numbers;
  const bool month_first =
      !pointed && (day == DayPlace::second || (day == DayPlace::unknown && two > 12));
  return fmt::format("{:04}-{:02}-{:02}{}", *year, month_first ? one : two, month_first ? two : one,
                     parts->rest);
}

/// The time behind a date, as in 9:05 or 1:05 PM, with two digits of its hour out of 24.
void turn_clock(std::string& iso) {
  constexpr size_t kHour = 11;
  if (iso.size() > kHour + 1 && iso[kHour + 1] == ':') iso.insert(kHour, "0");
  const auto half = lower_case(iso.substr(iso.size() - 2));
  if (half != "am" && half != "pm") return;
  iso.resize(iso.size() - 2);
  if (iso.back() == ' ') iso.pop_back();
  const auto hour = iso.size() > kHour + 2 ? parse_uint(iso.substr(kHour, 2)) : std::nullopt;
  if (!hour || *hour < 1 || *hour > 12) {
    iso.clear();
    return;
  }
  iso.replace(kHour, 2, fmt::format("{:02}", *hour % 12 + (half == "pm" ? 12 : 0)));
}

/// 01-Jan-2026 or 1 Jan 2026 with anything behind it as 2026-01-01; empty when it is none.
std::string named_month_date(std::string_view text) {
  constexpr std::string_view kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                          "jul", "aug", "sep", "oct", "nov", "dec"};
  constexpr size_t kBehindDay = 9;  // "-Jan-2026"
  const size_t digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits > 2 || text.size() < digits + kBehindDay) return "";
  const char between = text[digits];
  const auto name = lower_case(text.substr(digits + 1, 3));
  const auto month = std::find(std::begin(kMonths), std::end(kMonths), name);
  const auto year = text.substr(digits + 5, 4);
  if ((between != '-' && between != ' ' && between != '/') || text[digits + 4] != between ||
      month == std::end(kMonths) || year.find_first_not_of("0123456789") != year.npos)
    return "";
  return fmt::format("{}-{:02}-{:0>2}{}", year, month - std::begin(kMonths) + 1,
                     text.substr(0, digits), text.substr(digits + kBehindDay));
}

/// The zone at the end of "2026-01-31 12:00+0100" or "2026-01-31 12:00 UTC", which is taken away,
/// as Z or +01:00; empty: none is there.
std::string take_zone(std::string& iso) {
  constexpr size_t kClock = 11;
  std::string zone;
  for (const std::string_view word : {"utc", "gmt", "z"})
    if (iso.size() > kClock + word.size() &&
        lower_case(iso.substr(iso.size() - word.size())) == word) {
      iso = trim(iso.substr(0, iso.size() - word.size()));
      zone = "Z";
      break;
    }
  const size_t sign = iso.find_first_of("+-", std::min(kClock, iso.size()));
  if (sign == iso.npos) return zone;
  auto digits = iso.substr(sign + 1);
  if (digits.size() == 5 && digits[2] == ':') digits.erase(2, 1);
  if (digits.size() == 2) digits += "00";
  // 12:00-13:00 is a span of time rather than west of Greenwich.
  const bool span = iso[sign] == '-' && iso[kClock - 1] == ' ' && iso.find(':', sign) != iso.npos &&
                    std::count(iso.begin(), iso.begin() + static_cast<ptrdiff_t>(sign), ':') < 2;
  if (span || digits.size() != 4 || digits.find_first_not_of("0123456789") != digits.npos)
    return zone;
  zone = fmt::format("{}{}:{}", iso[sign], digits.substr(0, 2), digits.substr(2));
  iso = trim(iso.substr(0, sign));
  return zone;
}

/// Dates as people write them, as ISO 8601 has it; UTC where no zone is said.
std::string iso_of(std::string_view text, DayPlace day) {
  constexpr size_t kDate = 10, kMinutes = 16;
  std::string iso = turned_date(text, day);
  if (iso.empty()) iso = named_month_date(text);
  if (iso.empty()) iso = text;
  if (iso.size() >= kDate && iso[4] == '/' && iso[7] == '/') iso[4] = iso[7] = '-';
  if (iso.size() == 7 && iso[4] == '-') iso += "-01";
  if (iso.size() == kDate) return iso + "T00:00:00Z";
  if (iso.size() > kDate + 1 && iso[kDate] == ',') iso.erase(kDate, iso[kDate + 1] == ' ');
  const auto zone = take_zone(iso);
  if (iso.size() > kDate && (iso[kDate] == ' ' || iso[kDate] == ',')) iso[kDate] = 'T';
  if (iso.size() > kDate + 1) turn_clock(iso);
  if (iso.size() == kMinutes) iso += ":00";
  return iso + (zone.empty() ? "Z" : zone);
}

/// 20260131 and the like, with or without a clock behind it, as 2026-01-31; empty when it is none.
std::string spread_date(std::string_view text) {
  // Seconds since 1970 have ten digits, too; these are far in the future.
  constexpr uint64_t kFirstOfHours = 1900;
  constexpr size_t kDate = 8, kHours = 10, kMost = 14;
  const auto digits = text.substr(0, text.find(' '));
  if (digits.size() < kDate || digits.size() > kMost || digits.size() % 2 ||
      digits.find_first_not_of("0123456789") != digits.npos)
    return "";
  const auto year = parse_uint(digits.substr(0, 4));
  if (!year || *year > kLatestYear || (digits.size() == kHours && *year < kFirstOfHours)) return "";
  const auto at = [&](size_t place) {
    return place < digits.size() ? digits.substr(place, 2) : std::string_view("00");
  };
  const std::string date = fmt::format("{}-{}-{}", digits.substr(0, 4), at(4), at(6));
  if (digits.size() == kDate) return date + std::string(text.substr(kDate));
  if (digits.size() < text.size()) return "";
  return fmt::format("{}T{}:{}:{}", date, at(8), at(10), at(12));
}

/// The end of a day as 24:00 becomes its beginning; whether it was one.
bool turn_midnight(std::string& iso) {
  if (iso.compare(10, 9, "T24:00:00") != 0) return false;
  iso[11] = iso[12] = '0';
  return true;
}

}  // namespace

std::optional<double> CellReader::number(std::string_view text) const {
  const size_t comma = decimal_comma ? text.find(',') : text.npos;
  if (comma == text.npos) return parse_double(text);
  if (text.find_first_of(",.", comma + 1) != text.npos || text.find('.') != text.npos)
    return std::nullopt;
  std::string pointed(text);
  pointed[comma] = '.';
  return parse_double(pointed);
}

std::optional<double> CellReader::value(const std::string& cell) const {
  if (is_missing(cell) || is_marked(cell)) return kMissing;
  std::string_view text = trim(cell);
  for (const std::string_view unit : {"%", " MiB", " W", " MHz"})
    if (text.ends_with(unit)) {
      text.remove_suffix(unit.size());
      break;
    }
  return number(trim(text));
}

bool CellReader::is_marked(const std::string& cell) const {
  if (missing.empty()) return false;
  const auto text = trim(cell);
  const auto value = number(text);
  return std::any_of(missing.begin(), missing.end(), [&](const std::string& mark) {
    const auto marked = value ? parse_double(mark) : std::nullopt;
    return marked ? are_same(*value, *marked) : lower_case(text) == lower_case(mark);
  });
}

bool CellReader::is_date(const std::string& cell) const {
  return (compact || !number(trim(cell))) && time(cell);
}

std::optional<double> CellReader::time(const std::string& cell) const {
  const std::string_view text = trim(cell);
  const std::string spread = compact ? spread_date(text) : "";
  if (const auto count = compact ? std::nullopt : number(text)) return count;
  std::string iso = iso_of(spread.empty() ? text : spread, day);
  const double later = iso.size() > 10 && turn_midnight(iso) ? kDay : 0;
  const auto time = parse_utc(iso, kFirstYear);
  if (!time) return std::nullopt;
  return seconds(time->time_since_epoch()) + later;
}

double units_of_second(double farthest) {
  if (farthest <= kMilliseconds) return 1;
  return farthest > kNanoseconds ? 1e9 : farthest > kMicroseconds ? 1e6 : 1e3;
}

bool is_slashed_date(std::string_view cell) {
  const auto parts = date_parts(trim(cell));
  return parts && is_slashed(*parts);
}

bool is_short_date(std::string_view cell) {
  const auto text = trim(cell);
  const auto parts = date_parts(text);
  return parts && parts->separator == '.' && text.size() == 8 && year_of(*parts);
}

bool is_compact_date(std::string_view cell) {
  const auto text = trim(cell);
  return text.find(' ') == text.npos && !spread_date(text).empty() &&
         CellReader{.compact = true}.time(std::string(text));
}

bool is_clock(std::string_view cell) {
  const auto text = trim(cell);
  const size_t colon = text.find(':');
  return (colon == 1 || colon == 2) && CellReader().time(fmt::format("2000-01-01 {}", text));
}

void ShortDates::add(std::string_view cell) {
  constexpr size_t kDayAndMonth = 6;
  const auto text = trim(cell);
  same_ = same_ && is_short_date(text) &&
          (count_ == 0 || (text != last_ && last_.starts_with(text.substr(0, kDayAndMonth))));
  ++count_;
  last_ = text;
}

bool is_year(std::string_view cell) {
  const auto text = trim(cell);
  const auto year = parse_uint(text);
  return text.size() == 4 && year && *year >= kEarliestYear && *year <= kLatestYear;
}

}  // namespace assay::analysis
