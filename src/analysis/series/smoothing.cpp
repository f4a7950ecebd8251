// SPDX-License-Identifier: Apache-2.0
#include "forecast_method.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace assay::analysis {

namespace {

/// The rates at which parts of the state follow what was missed.
enum Rate : size_t { kLevel, kTrend, kSeason, kLongerSeason, kDamping, kCarried, kRates };
using Rates = std::array<double, kRates>;
constexpr Rates kStart = {0.1, 0.01, 0.1, 0.1, 0.95, 0.5};
constexpr Rates kLeast = {0.001, 0, 0.001, 0.001, 0.8, 0};
constexpr Rates kMost = {0.99, 0.3, 0.99, 0.99, 0.98, 0.98};
constexpr Rates kStep = {0.2, 0.05, 0.2, 0.2, 0.05, 0.3};
constexpr int kRounds = 7;

/// Holt and Winters' method with a damped trend, Taylor's second season, and a share of each error
/// that is carried on into the next value.
class Smoothing final : public ForecastMethod {
 public:
  Smoothing(size_t season, size_t longer) : season_(season), longer_(longer) {}
  std::string name() const override {
    if (longer_ > 1) return fmt::format("smoothing with seasons of {} and {}", season_, longer_);
    return season_ > 1 ? fmt::format("smoothing with a season of {}", season_) : "smoothing";
  }

  void fit(std::span<const double> series) override {
    rates_ = kStart;
    Rates step = kStep;
    double least = run(series, rates_).error;
    for (int round = 0; round < kRounds; ++round) {
      const double before = least;
      for (size_t which = 0; which < kRates; ++which)
        if (is_used(which)) least = tried(series, which, step[which], least);
      if (least < before) continue;
      for (double& one : step) one /= 2;
    }
  }

  std::vector<double> ahead(std::span<const double> series, size_t horizon) const override {
    State state = run(series, rates_);
    std::vector<double> values(horizon);
    for (size_t i = 0; i < horizon; ++i) {
      state.trend *= rates_[kDamping];
      state.level += state.trend;
      state.missed *= rates_[kCarried];
      values[i] = state.level + state.missed + state.season[(series.size() + i) % season_] +
                  state.longer[(series.size() + i) % longer_];
    }
    return values;
  }

 private:
  struct State {
    double level = 0;
    double trend = 0;
    double missed = 0;
    double error = 0;
    std::vector<double> season;
    std::vector<double> longer;
  };

  bool is_used(size_t which) const {
    return (which != kSeason || season_ > 1) && (which != kLongerSeason || longer_ > 1);
  }

  /// One rate a step up or down, where that is better.
  double tried(std::span<const double> series, size_t which, double step, double least) {
    const double before = rates_[which];
    for (const double change : {step, -step}) {
      rates_[which] = std::clamp(before + change, kLeast[which], kMost[which]);
      if (rates_[which] == before) continue;
      const double error = run(series, rates_).error;
      if (error < least) return error;
    }
    rates_[which] = before;
    return least;
  }

  State begin(std::span<const double> series) const {
    State state;
    state.season.resize(season_);
    state.longer.resize(longer_);
    const size_t first = std::min(series.size(), std::max(season_, longer_));
    for (const double value : series.first(first)) state.level += value;
    state.level /= static_cast<double>(first);
    const size_t turns = std::min(series.size(), 2 * first);
    std::vector<double> count(season_);
    for (size_t i = 0; season_ > 1 && i < turns; ++i) {
      state.season[i % season_] += series[i] - state.level;
      ++count[i % season_];
    }
    for (size_t i = 0; i < season_; ++i)
      if (count[i] > 0) state.season[i] /= count[i];
    for (size_t i = 0; longer_ > 1 && i < first; ++i)
      state.longer[i] = series[i] - state.level - state.season[i % season_];
    return state;
  }

  State run(std::span<const double> series, const Rates& rates) const {
    State state = begin(series);
    const size_t settled = std::max(season_, longer_);
    const double season_rate = season_ > 1 ? rates[kSeason] : 0;
    const double longer_rate = longer_ > 1 ? rates[kLongerSeason] : 0;
    size_t at = 0, at_longer = 0;
    for (size_t i = 0; i < series.size(); ++i) {
      const double trend = rates[kDamping] * state.trend;
      const double told = state.level + trend + state.season[at] + state.longer[at_longer];
      const double miss = series[i] - told;
      const double error = miss - rates[kCarried] * state.missed;
      if (i >= settled) state.error += error * error;
      state.missed = miss;
      state.level += trend + rates[kLevel] * miss;
      state.trend = trend + rates[kTrend] * miss;
      state.season[at] += season_rate * miss;
      state.longer[at_longer] += longer_rate * miss;
      if (++at == season_) at = 0;
      if (++at_longer == longer_) at_longer = 0;
    }
    return state;
  }

  const size_t season_;
  const size_t longer_;
  Rates rates_ = kStart;
};

}  // namespace

MethodPtr smoothing(size_t season, size_t longer_season) {
  return std::make_unique<Smoothing>(season, longer_season);
}

}  // namespace assay::analysis
