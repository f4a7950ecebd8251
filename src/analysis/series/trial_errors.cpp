// SPDX-License-Identifier: Apache-2.0
#include "trial_errors.h"

#include <algorithm>
#include <cmath>

namespace assay::analysis {

namespace {

/// The end of a series that methods are tried on: so many horizons, and at most this share of it.
constexpr double kHorizons = 3;
constexpr double kShare = 0.4;
/// Places to start from in a horizon.
constexpr size_t kStarts = 2;
/// Errors that are alike from one value to the next tell as little as a few of them: what comes is
/// then further off than they were. By so much where they are wholly alike.
constexpr double kWider80 = 0.2;
constexpr double kWider95 = 0.4;

double quantile_of(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const double rank = share * static_cast<double>(values.size() + 1);
  const auto at =
      std::min(values.size() - 1, static_cast<size_t>(std::max(0.0, std::ceil(rank) - 1)));
  const auto place = values.begin() + static_cast<ptrdiff_t>(at);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

/// A line over the square root of the distance through mean errors; never falling.
struct Growth {
  double base = 0;
  double slope = 0;
  double at(size_t ahead) const { return base + slope * std::sqrt(static_cast<double>(ahead) + 1); }
};

Growth growth_of(const std::vector<std::vector<double>>& rows) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      const double root = std::sqrt(static_cast<double>(i) + 1), error = std::abs(row[i]);
      ++n;
      x += root;
      y += error;
      xx += root * root;
      xy += root * error;
    }
  if (n == 0) return {};
  const double spread = n * xx - x * x;
  Growth growth;
  growth.slope = spread > 0 ? std::max(0.0, (n * xy - x * y) / spread) : 0;
  growth.base = (y - growth.slope * x) / n;
  if (growth.base < 0) growth = {0, x > 0 ? y / x : 0};
  return growth;
}

/// How alike an error is to the next one, 0 to 1.
double likeness_of(const std::vector<std::vector<double>>& rows) {
  double own = 0, next = 0;
  for (const auto& row : rows)
    for (size_t i = 1; i < row.size(); ++i) {
      own += 0.5 * (row[i] * row[i] + row[i - 1] * row[i - 1]);
      next += row[i] * row[i - 1];
    }
  return own > 0 ? std::clamp(next / own, 0.0, 1.0) : 1;
}

}  // namespace

double TrialErrors::mean() const {
  double sum = 0, count = 0;
  for (const auto& row : rows)
    for (const double error : row) {
      sum += std::abs(error);
      ++count;
    }
  return count > 0 && std::isfinite(sum) ? sum / count : HUGE_VAL;
}

std::vector<Widths> TrialErrors::widths(size_t horizon) const {
  const Growth growth = growth_of(rows);
  std::vector<double> scaled;
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      if (growth.at(i) > 0) scaled.push_back(std::abs(row[i]) / growth.at(i));
  const double alike = likeness_of(rows);
  const double in80 = (1 + kWider80 * alike) * quantile_of(scaled, 0.80);
  const double in95 = std::max(in80, (1 + kWider95 * alike) * quantile_of(scaled, 0.95));
  std::vector<Widths> widths(horizon);
  for (size_t i = 0; i < horizon; ++i) widths[i] = {in80 * growth.at(i), in95 * growth.at(i)};
  return widths;
}

TrialErrors together(const std::vector<TrialErrors>& trials, const std::vector<double>& weights) {
  TrialErrors sum{trials.front().rows};
  for (size_t r = 0; r < sum.rows.size(); ++r)
    for (size_t i = 0; i < sum.rows[r].size(); ++i) {
      sum.rows[r][i] = 0;
      for (size_t t = 0; t < trials.size(); ++t)
        if (weights[t] > 0) sum.rows[r][i] += weights[t] * trials[t].rows[r][i];
    }
  return sum;
}

TrialWindows::TrialWindows(size_t length, size_t horizon) {
  const double most = kShare * static_cast<double>(length);
  const auto end = static_cast<size_t>(std::min(most, kHorizons * static_cast<double>(horizon)));
  horizon_ = std::min(horizon, std::max<size_t>(end, 1));
  trained_ = length > end ? length - end : length;
  step_ = std::max<size_t>(1, horizon_ / kStarts);
}

TrialErrors TrialWindows::tried(const ForecastMethod& method,
                                std::span<const double> series) const {
  TrialErrors errors;
  for (size_t from = trained_; from < series.size(); from += step_) {
    const size_t count = std::min(horizon_, series.size() - from);
    if (!errors.rows.empty() && 2 * count < horizon_) break;
    const auto told = method.ahead(series.first(from), count);
    auto& row = errors.rows.emplace_back(count);
    for (size_t i = 0; i < count; ++i) row[i] = told[i] - series[from + i];
  }
  return errors;
}

}  // namespace assay::analysis
