// SPDX-License-Identifier: Apache-2.0
#include "calendar_months.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace assay::analysis {
namespace {

using std::chrono::year_month_day;

constexpr double kDay = 86400;

/// One time, as the calendar has it.
struct Moment {
  int64_t month = 0;  ///< since the year 0
  unsigned day = 0;
  double clock = 0;  ///< seconds of the day
  bool is_last = false;
};

bool is_last(const year_month_day& date) {
  return date.day() == (date.year() / date.month() / std::chrono::last).day();
}

Moment moment_of(double time) {
  const double day = std::floor(time / kDay);
  const year_month_day date{std::chrono::sys_days(std::chrono::days(static_cast<int>(day)))};
  return {12 * static_cast<int64_t>(static_cast<int>(date.year())) +
              static_cast<unsigned>(date.month()) - 1,
          static_cast<unsigned>(date.day()), time - kDay * day, is_last(date)};
}

}  // namespace

std::optional<CalendarMonths> calendar_months(
    const std::vector<std::pair<double, double>>& sorted) {
  if (std::abs(sorted.front().first) > kFarthestMonth ||
      std::abs(sorted.back().first) > kFarthestMonth)
    return std::nullopt;
  const auto first = moment_of(sorted.front().first);
  bool same_day = true, last_day = true;
  std::vector<int64_t> steps;
  int64_t before = first.month;
  for (const auto& [time, value] : sorted) {
    const auto moment = moment_of(time);
    same_day &= moment.day == first.day;
    last_day &= moment.is_last;
    if (moment.clock != first.clock || !(same_day || last_day)) return std::nullopt;
    if (moment.month != before) steps.push_back(moment.month - before);
    before = moment.month;
  }
  if (steps.empty()) return std::nullopt;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  const int64_t usual = *middle;
  if (std::any_of(steps.begin(), steps.end(), [&](int64_t step) { return step % usual != 0; }))
    return std::nullopt;
  return CalendarMonths{static_cast<int>(usual), last_day};
}

double months_later(double time, int64_t months, bool ends) {
  const double day = std::floor(time / kDay);
  const year_month_day from{std::chrono::sys_days(std::chrono::days(static_cast<int>(day)))};
  const auto month = std::chrono::year_month(from.year(), from.month()) +
                     std::chrono::months(static_cast<int>(months));
  const year_month_day last{month / std::chrono::last};
  const auto to = ends || from.day() > last.day() ? last : year_month_day(month / from.day());
  const auto days = std::chrono::sys_days(to).time_since_epoch().count();
  return kDay * static_cast<double>(days) + (time - kDay * day);
}

}  // namespace assay::analysis
