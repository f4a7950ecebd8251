// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <assay/analysis/cycles.h>

namespace assay::analysis {

struct ForecastPlan {
  size_t horizon = 1;
  /// In samples, the shortest first; at most two are used, and only those of which the series holds
  /// at least two turns.
  std::vector<size_t> seasons = {};
};

struct ForecastPoint {
  double value = 0;
  double low80 = 0;
  double high80 = 0;
  double low95 = 0;
  double high95 = 0;
};

/// What one method has to say in a forecast.
struct MethodShare {
  std::string name;  ///< in plain words: "same time last day"
  double weight = 0;
  double error = 0;  ///< its mean absolute error when it was tried on the end of the series
};

struct Forecast {
  std::vector<ForecastPoint> points;
  std::vector<MethodShare>
      methods;  ///< those that count, the weightiest first; weights sum up to 1
};

/// The next values of an evenly spaced series, oldest first; NaN is a missing value. Several
/// methods are tried on the end of the series, and each has the more to say the better it did
/// there; the intervals are as wide as their errors were. Of a very long series only the end is
/// used. Empty where methods could not be tried on three known values, as of fewer than eight: how
/// far off they are would be a guess.
Forecast forecast(std::span<const double> values, const ForecastPlan& plan);

/// The seasons that such cycles mean for a forecast, and a week where one of them is a day.
/// `step_seconds` is the distance of two values, 0 when it is not known.
std::vector<size_t> seasons_of(const std::vector<Cycle>& cycles, size_t length,
                               double step_seconds);

}  // namespace assay::analysis
