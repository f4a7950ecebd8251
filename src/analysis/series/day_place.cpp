// SPDX-License-Identifier: Apache-2.0
#include "day_place.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/base/wording.h>

namespace assay::analysis {

namespace {

/// The times of a column by one of the readings of its dates.
class Times {
 public:
  explicit Times(DayPlace day) : reader_{.day = day} {}

  /// False: it is none by this reading.
  bool add(const std::string& cell) {
    const auto time = reader_.time(cell);
    if (time && last_ && *time != *last_) steps_.push_back(*time - *last_);
    last_ = time;
    if (!first_) first_ = time;
    return time.has_value();
  }
  bool go_one_way() const {
    return std::all_of(steps_.begin(), steps_.end(),
                       [&](double step) { return step * steps_[0] > 0; });
  }
  /// Also by so many months.
  bool are_even() const {
    constexpr double kDay = 86400, kShortestMonth = 28 * kDay, kLongestMonth = 31 * kDay;
    constexpr int kMonths[] = {1, 2, 3, 6, 12};
    return std::all_of(steps_.begin(), steps_.end(),
                       [&](double step) { return step == steps_[0]; }) ||
           std::any_of(std::begin(kMonths), std::end(kMonths), [&](int months) {
             return std::all_of(steps_.begin(), steps_.end(), [&](double step) {
               return std::abs(step) >= months * kShortestMonth &&
                      std::abs(step) <= months * kLongestMonth;
             });
           });
  }
  bool operator==(const Times& other) const {
    return first_ == other.first_ && steps_ == other.steps_;
  }

 private:
  CellReader reader_;
  std::optional<double> first_, last_;
  std::vector<double> steps_;
};

}  // namespace

Result<DayPlace> day_place(const std::vector<std::vector<std::string>>& first, CsvRows rows,
                           const SeriesLayout& layout, const std::string& who) {
  const auto has_date = [&](const std::vector<std::string>& cells) {
    return layout.time && cells.size() > *layout.time && is_slashed_date(cells[*layout.time]);
  };
  const auto example = std::find_if(first.begin(), first.end(), has_date);
  if (example == first.end()) return DayPlace::unknown;
  Times day_first(DayPlace::first), month_first(DayPlace::second);
  std::vector<std::string> cells;
  while (true) {
    // What is wrong with the table is told when it is read.
    const auto more = rows.next(cells);
    if (!more || !*more) break;
    if (!has_date(cells)) continue;
    const bool may_be_first = day_first.add(cells[*layout.time]);
    const bool may_be_second = month_first.add(cells[*layout.time]);
    if (!may_be_first || !may_be_second) return may_be_second ? DayPlace::second : DayPlace::first;
  }
  if (day_first == month_first) return DayPlace::first;
  for (const auto what : {&Times::go_one_way, &Times::are_even})
    if ((day_first.*what)() != (month_first.*what)())
      return (day_first.*what)() ? DayPlace::first : DayPlace::second;
  return bad_input(fmt::format(
      "{}: {} may have the day or the month first, and no row tells which; write dates as "
      "2026-01-31, the format YYYY-MM-DD of spreadsheets",
      who, in_quotes(trim((*example)[*layout.time]))));
}

}  // namespace assay::analysis
