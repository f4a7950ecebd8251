// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::analysis {

/// Where the day is in 01/02/2026; 01.02.2026 begins with it.
enum class DayPlace : uint8_t { unknown, first, second };

/// What a cell of a table says, where a comma in numbers may be the decimal one.
struct CellReader {
  bool decimal_comma = false;
  std::vector<std::string> missing = {};  ///< words and numbers that also stand for no value
  DayPlace day = DayPlace::unknown;
  bool compact = false;  ///< digits as 20260131 are dates

  /// Also with one of the units that nvidia-smi writes; NaN is a missing value, nothing is no
  /// number.
  std::optional<double> value(const std::string& cell) const;
  /// Seconds since 1970 of a date; a number as it is, where it is no compact date.
  std::optional<double> time(const std::string& cell) const;
  bool is_date(const std::string& cell) const;
  /// Whether it is one of `missing`.
  bool is_marked(const std::string& cell) const;

 private:
  std::optional<double> number(std::string_view text) const;
};

/// How many of its units are a second, if times of a table that are numbers are at most that far
/// from zero: milli-, micro- or nanoseconds, if not seconds.
double units_of_second(double farthest);

/// Whether it is a date as 1/31/2026 or 31-01-2026, with anything behind it.
bool is_slashed_date(std::string_view cell);

/// Whether it may be a date as 31.12.21, with nothing behind it.
bool is_short_date(std::string_view cell);

/// Whether it may be 20260131, with or without hours, minutes and seconds as more digits.
bool is_compact_date(std::string_view cell);

/// Whether it is a time of day, as 9:05, 09:05:30 or 1:05 PM.
bool is_clock(std::string_view cell);

/// Looks at a column of dates row by row.
class ShortDates {
 public:
  void add(std::string_view cell);
  /// As 10.05.39: all of them are short, and only their last numbers differ.
  bool may_be_clocks() const { return same_ && count_ > 1; }
  const std::string& last() const { return last_; }

 private:
  std::string last_;
  size_t count_ = 0;
  bool same_ = true;
};

/// Numbers from one to the other may be years.
constexpr uint64_t kEarliestYear = 1500, kLatestYear = 2200;

/// Whether it may be one: four digits of these.
bool is_year(std::string_view cell);

}  // namespace assay::analysis
