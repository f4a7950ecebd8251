// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace assay::analysis {

/// A way to tell the next values of a series without gaps. fit() learns what it needs to know from
/// one series; ahead() then goes on from the end of that series or of a longer one, with what was
/// learned.
class ForecastMethod {
 public:
  virtual ~ForecastMethod() = default;
  virtual std::string name() const = 0;
  virtual void fit(std::span<const double> series) = 0;
  virtual std::vector<double> ahead(std::span<const double> series, size_t horizon) const = 0;
};

using MethodPtr = std::unique_ptr<ForecastMethod>;

/// The value of one season ago; a season of 1 is the last value.
MethodPtr same_as_last(size_t season);
/// The mean of the last `count` values.
MethodPtr mean_of_last(size_t count);
/// Their median: of what is mostly idle, idle.
MethodPtr median_of_last(size_t count);
/// The Theta method (simple smoothing with half of the trend) on what is left without the season;
/// 1: there is none.
MethodPtr theta(size_t season);
/// Level, damped trend and one or two seasons that are smoothed exponentially; 1: there is none.
MethodPtr smoothing(size_t season, size_t longer_season);
/// A linear function of the values at these lags, ascending.
MethodPtr linear(std::vector<size_t> lags, std::string name);
/// The method on the logarithms; all values must be positive.
MethodPtr on_logarithms(MethodPtr method);

}  // namespace assay::analysis
