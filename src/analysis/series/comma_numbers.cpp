// SPDX-License-Identifier: Apache-2.0
#include "comma_numbers.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <assay/base/text.h>

namespace assay::analysis {

namespace {

/// Seconds since 1970 have so many digits since 1973.
constexpr size_t kDigitsOfTimes = 9;

bool are_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view without_sign(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text;
}

/// 1,234,567.89
bool has_thousands(const std::vector<std::string>& cells) {
  const auto first = without_sign(cells[0]);
  if (first.size() > 3 || !are_digits(first)) return false;
  for (size_t i = 1; i < cells.size(); ++i) {
    std::string_view cell = cells[i];
    const size_t point = i + 1 == cells.size() ? cell.find('.') : cell.npos;
    if (point != cell.npos && !are_digits(cell.substr(point + 1))) return false;
    cell = cell.substr(0, point);
    if (cell.size() != 3 || !are_digits(cell)) return false;
  }
  return true;
}

/// 1013,25
bool has_decimals(const std::vector<std::string>& cells) {
  return cells.size() == 2 && are_digits(without_sign(cells[0])) && are_digits(cells[1]);
}

/// Whether times go one way, nearly all of them by the same step.
bool count(const std::vector<std::pair<double, double>>& samples) {
  std::vector<double> steps;
  for (size_t i = 1; i < samples.size(); ++i)
    steps.push_back(samples[i].first - samples[i - 1].first);
  if (steps.empty()) return true;
  auto sorted = steps;
  const auto middle = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const double usual = *middle;
  size_t others = 0;
  for (const double step : steps) {
    if (!(step * usual > 0)) return false;
    if (step != usual) ++others;
  }
  return 10 * others <= steps.size() + 10;
}

}  // namespace

void CommaNumbers::add(const std::vector<std::string>& cells) {
  if (!all_) return;
  all_ = cells.size() > 1 && (has_thousands(cells) || has_decimals(cells));
  if (!all_) return;
  padded_ = padded_ || (cells[1].size() > 1 && cells[1].starts_with('0'));
  short_ = short_ && cells[0].size() < kDigitsOfTimes;
}

bool CommaNumbers::found(const std::vector<std::pair<double, double>>& samples) const {
  return all_ && short_ && (padded_ || !count(samples));
}

void PointNumbers::add(std::string_view cell, size_t line) {
  constexpr size_t kDigits = 3;
  const auto text = without_sign(trim(cell));
  if (!all_ || text.empty()) return;
  const size_t point = text.find('.');
  const auto before = text.substr(0, std::min(point, text.find(',')));
  all_ = are_digits(before) && before.size() <= kDigits;
  if (!all_) return;
  if (point == text.npos) {
    whole_ = true;
    return;
  }
  const auto behind = text.substr(point + 1);
  all_ = !before.starts_with('0') && behind.size() == kDigits && are_digits(behind);
  if (!all_ || first_line_ > 0) return;
  first_ = text;
  first_line_ = line;
}

}  // namespace assay::analysis
