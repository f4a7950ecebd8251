// SPDX-License-Identifier: Apache-2.0
#include "trial_errors.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::analysis {

namespace {

/// The end of a series that methods are tried on: so many horizons and so many values at least, as
/// a few errors tell nothing of the one in twenty that is largest; and at most this share of it.
constexpr double kHorizons = 3;
constexpr double kLeastTried = 60;
constexpr double kShare = 0.4;
/// Places to start from in a horizon.
constexpr size_t kStarts = 2;
/// Errors that are alike from one value to the next tell as little as a few of them: what comes is
/// then further off than they were. By so much where they are wholly alike, less where they are of
/// more places than usual, and more where of fewer.
constexpr double kWider80 = 0.2;
constexpr double kWider95 = 0.4;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
/// Fewer have no one in twenty.
constexpr size_t kFewErrors = 20;
/// What a normal error exceeds in one of five and one of twenty cases.
constexpr double kNormal80 = 1.2816, kNormal95 = 1.96;

double quantile_of(std::vector<double> values, double share) {
  const double rank = share * static_cast<double>(values.size() + 1);
  const auto at =
      std::min(values.size() - 1, static_cast<size_t>(std::max(0.0, std::ceil(rank) - 1)));
  const auto place = values.begin() + static_cast<ptrdiff_t>(at);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

/// By Student's distribution, which is wider than the normal one where only `count` errors told
/// its spread; this expansion is good to a percent from three on.
double student_of(double normal, double count) {
  const double z = normal, z2 = z * z;
  const double by1 = z * (z2 + 1) / 4;
  const double by2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double by3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  return z + (by1 + (by2 + by3 / count) / count) / count;
}

/// What that share of errors, whose absolute values these are, will be within.
double within(const std::vector<double>& errors, double share, double normal) {
  if (errors.size() >= kFewErrors) return quantile_of(errors, share);
  double squares = 0;
  for (const double error : errors) squares += error * error;
  const auto count = static_cast<double>(errors.size());
  return student_of(normal, count) * std::sqrt(squares / count);
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
      if (std::isnan(row[i])) continue;
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

/// How alike an error is to the next one, 0 to 1; of a single value ahead, to that of the next
/// place.
double likeness_of(const std::vector<std::vector<double>>& rows) {
  double own = 0, next = 0;
  const auto add = [&](double one, double other) {
    if (std::isnan(one) || std::isnan(other)) return;
    own += 0.5 * (one * one + other * other);
    next += one * other;
  };
  for (const auto& row : rows)
    for (size_t i = 1; i < row.size(); ++i) add(row[i - 1], row[i]);
  for (size_t r = 1; r < rows.size() && rows[r].size() == 1; ++r) add(rows[r - 1][0], rows[r][0]);
  return own > 0 ? std::clamp(next / own, 0.0, 1.0) : 1;
}

}  // namespace

double TrialErrors::mean() const {
  double sum = 0, count = 0;
  for (const auto& row : rows)
    for (const double error : row) {
      if (std::isnan(error)) continue;
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
      if (!std::isnan(row[i]))
        scaled.push_back(growth.at(i) > 0 ? std::abs(row[i]) / growth.at(i) : 0);
  if (scaled.empty()) return {};
  const auto places = static_cast<double>(rows.size());
  const double alike = likeness_of(rows) * kHorizons * kStarts / places;
  const double in80 = (1 + kWider80 * alike) * within(scaled, 0.80, kNormal80);
  const double in95 = std::max(in80, (1 + kWider95 * alike) * within(scaled, 0.95, kNormal95));
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
  const double wanted = std::max(kLeastTried, kHorizons * static_cast<double>(horizon));
  const auto end = static_cast<size_t>(std::min(most, wanted));
  horizon_ = std::min(horizon, std::max<size_t>(end, 1));
  trained_ = length > end ? length - end : length;
  step_ = std::max<size_t>(1, horizon_ / kStarts);
}

TrialErrors TrialWindows::tried(ForecastMethod& method, std::span<const double> series,
                                std::span<const double> known) const {
  TrialErrors errors;
  for (size_t from = trained_; from < series.size(); from += step_) {
    const size_t count = std::min(horizon_, series.size() - from);
    if (!errors.rows.empty() && 2 * count < horizon_) break;
    method.follow(series.first(from));
    const auto told = method.ahead(count);
    auto& row = errors.rows.emplace_back(count);
    for (size_t i = 0; i < count; ++i) {
      const double miss = told[i] - series[from + i];
      row[i] = !std::isfinite(known[from + i]) ? kUnknown : std::isfinite(miss) ? miss : HUGE_VAL;
    }
  }
  return errors;
}

}  // namespace assay::analysis
