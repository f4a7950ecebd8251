// SPDX-License-Identifier: Apache-2.0
#include "forecast_method.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace assay::analysis {

namespace {

/// The rates at which parts of the state follow what was missed.
enum Rate : size_t { kLevel, kTrend, kSeason, kLongerSeason, kDamping, kRates };
using Rates = std::array<double, kRates>;
constexpr Rates kStart = {0.1, 0.01, 0.1, 0.1, 0.95};
constexpr Rates kLeast = {0.001, 0, 0.001, 0.001, 0.8};
constexpr Rates kMost = {0.99, 0.3, 0.99, 0.99, 0.98};
constexpr Rates kStep = {0.2, 0.05, 0.2, 0.2, 0.05};
constexpr int kRounds = 7;
/// From rates that were good for the beginning of a series, the best for all of it are not far.
constexpr double kSmallerStep = 0.25;
constexpr int kRoundsAgain = 2;
/// The largest share of a miss that is carried on.
constexpr double kMostCarried = 0.9;

/// Where smoothing stands: `next` is the level with the damped trend, as the next value is told.
struct State {
  double next = 0;
  double trend = 0;
  double missed = 0;
  std::vector<double> season;
  std::vector<double> longer;
};

/// Squares and products of each miss and the one before: whatever share of a miss is carried on
/// into the next value, they tell the errors that are left.
struct Misses {
  double own = 0, both = 0, before = 0;

  void add(double miss, double missed) {
    own += miss * miss;
    both += miss * missed;
    before += missed * missed;
  }
  double best_share() const {
    return before > 0 ? std::clamp(both / before, 0.0, kMostCarried) : 0;
  }
  double error() const {
    const double share = best_share();
    return own - share * (2 * both - share * before);
  }
};

/// A state that goes on with its rates.
struct Lane {
  Lane(State& state, const Rates& rates)
      : next(state.next),
        trend(state.trend),
        missed(state.missed),
        season(state.season.data()),
        longer(state.longer.data()),
        damping(rates[kDamping]),
        bend(rates[kDamping] * rates[kTrend]),
        rise(rates[kLevel] + bend),
        turn(rates[kSeason]),
        longer_turn(rates[kLongerSeason]) {}

  double next, trend, missed;
  double *season, *longer;
  double damping, bend, rise, turn, longer_turn;
  Misses misses;
};

template <size_t Lanes, size_t... Each>
std::array<Lane, Lanes> lanes_of(std::array<State, Lanes>& states,
                                 const std::array<Rates, Lanes>& rates,
                                 std::index_sequence<Each...>) {
  return {Lane(states[Each], rates[Each])...};
}

/// Goes on over the values from `from` on with several states side by side: a step has to wait for
/// the one before of the same state only. Misses count from `settled` on.
template <bool Season, bool Longer, size_t Lanes>
std::array<Misses, Lanes> step_over(std::span<const double> series, size_t from, size_t settled,
                                    const std::array<Rates, Lanes>& rates,
                                    std::array<State, Lanes>& states) {
  const size_t season = states[0].season.size(), longer = states[0].longer.size();
  size_t at = from % season, at_longer = from % longer;
  auto lanes = lanes_of(states, rates, std::make_index_sequence<Lanes>());
  for (size_t i = from; i < series.size(); ++i) {
    for (auto& lane : lanes) {
      double value = series[i];
      if constexpr (Season) value -= lane.season[at];
      if constexpr (Longer) value -= lane.longer[at_longer];
      const double miss = value - lane.next;
      if (i >= settled) lane.misses.add(miss, lane.missed);
      const double damped = lane.damping * lane.trend;
      lane.missed = miss;
      lane.next = (lane.next + damped) + lane.rise * miss;
      lane.trend = damped + lane.bend * miss;
      if constexpr (Season) lane.season[at] += lane.turn * miss;
      if constexpr (Longer) lane.longer[at_longer] += lane.longer_turn * miss;
    }
    if (Season && ++at == season) at = 0;
    if (Longer && ++at_longer == longer) at_longer = 0;
  }
  std::array<Misses, Lanes> misses;
  for (size_t i = 0; i < Lanes; ++i) {
    misses[i] = lanes[i].misses;
    states[i].next = lanes[i].next;
    states[i].trend = lanes[i].trend;
    states[i].missed = lanes[i].missed;
  }
  return misses;
}

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
    const State start = begin(series);
    const bool again = seen_ > 0;
    Rates step = kStep;
    if (again)
      for (double& one : step) one *= kSmallerStep;
    std::array<State, 1> states = {start};
    double least = over<1>(series, 0, {rates_}, states)[0].error();
    for (int round = 0; round < (again ? kRoundsAgain : kRounds); ++round) {
      const double before = least;
      for (size_t which = 0; which < kRates; ++which)
        if (is_used(which)) least = tried(series, start, which, step[which], least);
      if (least < before) continue;
      for (double& one : step) one /= 2;
    }
    states = {start};
    carried_ = over<1>(series, 0, {rates_}, states)[0].best_share();
    state_ = std::move(states[0]);
    seen_ = series.size();
  }

  void follow(std::span<const double> series) override {
    std::array<State, 1> states = {std::move(state_)};
    over<1>(series, seen_, {rates_}, states);
    state_ = std::move(states[0]);
    seen_ = series.size();
  }

  std::vector<double> ahead(size_t horizon) const override {
    std::vector<double> values(horizon);
    double level = state_.next, trend = state_.trend, missed = state_.missed;
    for (size_t i = 0; i < horizon; ++i) {
      missed *= carried_;
      values[i] = level + missed + state_.season[(seen_ + i) % season_] +
                  state_.longer[(seen_ + i) % longer_];
      trend *= rates_[kDamping];
      level += trend;
    }
    return values;
  }

 private:
  bool is_used(size_t which) const {
    return (which != kSeason || season_ > 1) && (which != kLongerSeason || longer_ > 1);
  }

  template <size_t Lanes>
  std::array<Misses, Lanes> over(std::span<const double> series, size_t from,
                                 const std::array<Rates, Lanes>& rates,
                                 std::array<State, Lanes>& states) const {
    const size_t settled = std::max(season_, longer_);
    if (longer_ > 1) return step_over<true, true>(series, from, settled, rates, states);
    if (season_ > 1) return step_over<true, false>(series, from, settled, rates, states);
    return step_over<false, false>(series, from, settled, rates, states);
  }

  /// One rate a step up or down, where that is better.
  double tried(std::span<const double> series, const State& start, size_t which, double step,
               double least) {
    std::array<Rates, 2> rates = {rates_, rates_};
    rates[0][which] = std::min(rates_[which] + step, kMost[which]);
    rates[1][which] = std::max(rates_[which] - step, kLeast[which]);
    std::array<State, 2> states = {start, start};
    const auto misses = over<2>(series, 0, rates, states);
    for (size_t lane = 0; lane < 2; ++lane) {
      const double error = misses[lane].error();
      if (!(error < least)) continue;
      rates_ = rates[lane];
      return error;
    }
    return least;
  }

  State begin(std::span<const double> series) const {
    State state;
    state.season.resize(season_);
    state.longer.resize(longer_);
    const size_t first = std::min(series.size(), std::max(season_, longer_));
    for (const double value : series.first(first)) state.next += value;
    state.next /= static_cast<double>(first);
    const size_t turns = std::min(series.size(), 2 * first);
    std::vector<double> count(season_);
    for (size_t i = 0; season_ > 1 && i < turns; ++i) {
      state.season[i % season_] += series[i] - state.next;
      ++count[i % season_];
    }
    for (size_t i = 0; i < season_; ++i)
      if (count[i] > 0) state.season[i] /= count[i];
    for (size_t i = 0; longer_ > 1 && i < first; ++i)
      state.longer[i] = series[i] - state.next - state.season[i % season_];
    return state;
  }

  const size_t season_;
  const size_t longer_;
  Rates rates_ = kStart;
  double carried_ = 0;
  State state_;
  size_t seen_ = 0;
};

}  // namespace

MethodPtr smoothing(size_t season, size_t longer_season) {
  return std::make_unique<Smoothing>(season, longer_season);
}

}  // namespace assay::analysis
