// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace assay::analysis {

/// A way to tell the next values of a series without gaps. fit() learns what it needs to know from
/// one series, and stands at its end; follow() goes on, with what was learned, to the end of a
/// longer series that begins with that one; ahead() tells what comes next from there. A series has
/// to outlive the calls that follow. Fitted once more, a method may begin with what it knows.
class ForecastMethod {
 public:
  virtual ~ForecastMethod() = default;
  virtual std::string name() const = 0;
  virtual void fit(std::span<const double> series) = 0;
  virtual void follow(std::span<const double> series) = 0;
  virtual std::vector<double> ahead(size_t horizon) const = 0;
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

/// The logarithms of a whole series of positive values, for all methods that want them.
using Logarithms = std::shared_ptr<const std::vector<double>>;
Logarithms logarithms_of(std::span<const double> series);
/// The method on the logarithms; what it is fitted to and follows are beginnings of their series.
MethodPtr on_logarithms(MethodPtr method, Logarithms logarithms);

}  // namespace assay::analysis
