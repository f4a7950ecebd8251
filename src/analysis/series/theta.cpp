// SPDX-License-Identifier: Apache-2.0
#include "forecast_method.h"

#include <cmath>
#include <fmt/format.h>

namespace assay::analysis {

namespace {

/// The mean distance from the moving mean over a season, for each phase of it.
std::vector<double> profile(std::span<const double> series, size_t season) {
  std::vector<double> sums(series.size() + 1);
  for (size_t i = 0; i < series.size(); ++i) sums[i + 1] = sums[i] + series[i];
  std::vector<double> mean(season), count(season);
  const size_t half = season / 2;
  for (size_t i = half; i + half < series.size(); ++i) {
    // Of an even season, the values at both ends count half.
    const double ends = season % 2 ? 0 : 0.5 * (series[i - half] + series[i + half]);
    const double inner =
        season % 2 ? sums[i + half + 1] - sums[i - half] : sums[i + half] - sums[i - half + 1];
    mean[i % season] += series[i] - (inner + ends) / static_cast<double>(season);
    ++count[i % season];
  }
  double whole = 0;
  for (size_t phase = 0; phase < season; ++phase) {
    if (count[phase] > 0) mean[phase] /= count[phase];
    whole += mean[phase] / static_cast<double>(season);
  }
  for (double& value : mean) value -= whole;
  return mean;
}

class Theta final : public ForecastMethod {
 public:
  explicit Theta(size_t season) : season_(season) {}
  std::string name() const override {
    return season_ > 1 ? fmt::format("Theta with a season of {}", season_) : "Theta";
  }

  void fit(std::span<const double> series) override {
    profile_ = season_ > 1 ? profile(series, season_) : std::vector<double>(1);
    double least = HUGE_VAL;
    for (double rate = 0.02; rate < 1; rate += 0.07) {
      const double error = smoothed(series, rate).error;
      if (error >= least) continue;
      least = error;
      rate_ = rate;
    }
    slope_ = slope_of(series);
  }

  std::vector<double> ahead(std::span<const double> series, size_t horizon) const override {
    const double level = smoothed(series, rate_).level;
    std::vector<double> values(horizon);
    for (size_t i = 0; i < horizon; ++i)
      values[i] = level + 0.5 * slope_ * (static_cast<double>(i) + 1 / rate_) +
                  profile_[(series.size() + i) % profile_.size()];
    return values;
  }

 private:
  struct Smoothed {
    double level;
    double error;
  };
  double without_season(std::span<const double> series, size_t i) const {
    return series[i] - profile_[i % profile_.size()];
  }
  Smoothed smoothed(std::span<const double> series, double rate) const {
    Smoothed state{without_season(series, 0), 0};
    for (size_t i = 1; i < series.size(); ++i) {
      const double miss = without_season(series, i) - state.level;
      state.error += miss * miss;
      state.level += rate * miss;
    }
    return state;
  }
  double slope_of(std::span<const double> series) const {
    const double middle = (static_cast<double>(series.size()) - 1) / 2;
    double xy = 0, xx = 0;
    for (size_t i = 0; i < series.size(); ++i) {
      const double x = static_cast<double>(i) - middle;
      xy += x * without_season(series, i);
      xx += x * x;
    }
    return xx > 0 ? xy / xx : 0;
  }

  const size_t season_;
  std::vector<double> profile_{0};
  double rate_ = 0.1;
  double slope_ = 0;
};

}  // namespace

MethodPtr theta(size_t season) {
  return std::make_unique<Theta>(season);
}

}  // namespace assay::analysis
