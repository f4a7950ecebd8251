// SPDX-License-Identifier: Apache-2.0
#include "missing_marks.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace assay::analysis {

namespace {

/// What loggers write where they could not measure: those below zero where nothing else is, all
/// where they are so far beyond all the rest, in ranges of it.
constexpr double kBelow[] = {-99.9, -999, -999.9, -9999, -9999.9, -99999};
constexpr double kAbove[] = {999.9, 9999, 9999.9, 99999};
constexpr double kFar = 3;
/// From so many others on, the odd ones of a thousand at an end, and no more than so many, do not
/// count; of fewer no mark above them is told.
constexpr size_t kEnough = 50, kThousand = 1000, kMostOdd = 3;

struct Range {
  double low, high;
  double width() const { return high - low; }
};

bool is_in(const auto& marks, double value) {
  return std::find(std::begin(marks), std::end(marks), value) != std::end(marks);
}

Range range_of(const std::vector<double>& sorted, size_t odd) {
  return {sorted[odd], sorted[sorted.size() - 1 - odd]};
}

size_t odd_ones(size_t count) {
  return count < kEnough ? 0 : std::min(kMostOdd, (count + kThousand - 1) / kThousand);
}

}  // namespace

FoundMarks without_marks(std::vector<std::pair<double, double>>& samples) {
  std::vector<double> others, found;
  bool marked = false;
  for (const auto& [time, value] : samples) {
    const bool mark = is_in(kBelow, value) || is_in(kAbove, value);
    marked = marked || mark;
    if (std::isfinite(value) && !mark) others.push_back(value);
  }
  if (!marked || others.empty()) return {};
  std::sort(others.begin(), others.end());
  const Range all = range_of(others, 0), most = range_of(others, odd_ones(others.size()));
  const auto is_missing = [&](double value) {
    if (is_in(kBelow, value)) return most.low >= 0 || value < most.low - kFar * most.width();
    return is_in(kAbove, value) && others.size() >= kEnough &&
           value > all.high + kFar * all.width();
  };
  FoundMarks marks;
  for (auto& [time, value] : samples)
    if (is_missing(value)) {
      if (!is_in(found, value)) found.push_back(value);
      value = std::numeric_limits<double>::quiet_NaN();
      ++marks.count;
    }
  std::sort(found.begin(), found.end(),
            [](double a, double b) { return std::abs(a) < std::abs(b); });
  for (const double mark : found) marks.marks.push_back(fmt::format("{}", mark));
  return marks;
}

}  // namespace assay::analysis
