// SPDX-License-Identifier: Apache-2.0
#include "forecast_method.h"
#include "trial_errors.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <assay/analysis/forecast.h>

namespace assay::analysis {

namespace {

/// Of a longer series, only so much of the end is used, or six turns of its longest season.
constexpr size_t kLongest = 2000;
constexpr size_t kLongestTurns = 6;
/// The more, the less methods have to say that did a little worse than the best.
constexpr double kStrictness = 4;
/// A method with less to say is left out.
constexpr double kLeastWeight = 0.02;
/// What methods missed at fewer known values says nothing of what they will miss.
constexpr size_t kLeastTriedOn = 3;
/// That they missed nothing at fewer is no promise.
constexpr size_t kFewTriedOn = 20;

/// Without gaps: the value one season before, or on a straight line between its neighbours.
std::vector<double> filled(std::span<const double> values, const std::vector<size_t>& seasons) {
  std::vector<double> result(values.begin(), values.end());
  const size_t season = seasons.empty() ? 0 : seasons.front();
  size_t last = result.size();
  for (size_t i = 0; i < result.size(); ++i) {
    if (std::isfinite(result[i])) {
      last = i;
      continue;
    }
    if (season && i >= season && last < i) {
      result[i] = result[i - season];
      continue;
    }
    size_t next = i;
    while (next < result.size() && !std::isfinite(values[next])) ++next;
    const double right = next < result.size() ? values[next] : result[last];
    const double left = last < i ? result[last] : right;
    const double share =
        last < i ? static_cast<double>(i - last) / static_cast<double>(next - last) : 1;
    result[i] = next < result.size() ? left + share * (right - left) : left;
  }
  return result;
}

std::vector<size_t> usable(const std::vector<size_t>& seasons, size_t length) {
  std::vector<size_t> result;
  for (const size_t season : seasons)
    if (season >= 2 && 2 * season <= length && result.size() < 2) result.push_back(season);
  std::sort(result.begin(), result.end());
  return result;
}

void add_range(std::vector<size_t>& lags, size_t from, size_t to) {
  for (size_t lag = std::max<size_t>(from, 1); lag <= to; ++lag) lags.push_back(lag);
}

/// Ascending and none twice; none so long that too little would be left to learn from.
std::vector<size_t> tidy(std::vector<size_t> lags, size_t length) {
  std::sort(lags.begin(), lags.end());
  lags.erase(std::unique(lags.begin(), lags.end()), lags.end());
  while (!lags.empty() && lags.back() + 2 * lags.size() + 2 > length) lags.pop_back();
  return lags;
}

/// All of a short season, or the last few; and the neighbourhood of one and two seasons ago.
std::vector<size_t> dense_lags(const std::vector<size_t>& seasons) {
  std::vector<size_t> lags;
  const size_t season = seasons.empty() ? 0 : seasons.front();
  add_range(lags, 1, season && season <= 24 ? season + 2 : 12);
  if (season) {
    add_range(lags, season - 1, season + 1);
    add_range(lags, 2 * season - 1, 2 * season + 1);
  }
  if (seasons.size() > 1) add_range(lags, seasons[1] - 2, seasons[1] + 2);
  return lags;
}

/// The last three, and the same time in each turn of the season up to the longer one.
std::vector<size_t> sparse_lags(const std::vector<size_t>& seasons) {
  std::vector<size_t> lags = {1, 2, 3};
  const size_t season = seasons.front();
  add_range(lags, season - 1, season + 1);
  const size_t longer = seasons.size() > 1 ? seasons[1] : 3 * season;
  for (size_t lag = 2 * season; lag < longer && lags.size() < 16; lag += season)
    lags.push_back(lag);
  if (seasons.size() > 1) add_range(lags, longer - 1, longer + 1);
  return lags;
}

void add_linear(std::vector<MethodPtr>& methods, std::vector<size_t> lags, size_t length,
                const char* name) {
  auto tidied = tidy(std::move(lags), length);
  if (tidied.size() >= 2) methods.push_back(linear(std::move(tidied), name));
}

/// Those that learn proportions or differences, for a series of that length.
std::vector<MethodPtr> learners(const std::vector<size_t>& seasons, size_t length) {
  std::vector<MethodPtr> methods;
  if (length < 8) return methods;
  const size_t longest = seasons.empty() ? 1 : seasons.back();
  const size_t shortest = seasons.empty() ? 1 : seasons.front();
  methods.push_back(theta(longest));
  methods.push_back(smoothing(shortest, 1));
  if (seasons.size() > 1) methods.push_back(smoothing(shortest, longest));
  add_linear(methods, dense_lags(seasons), length, "linear in the last values and seasons");
  if (!seasons.empty()) {
    add_linear(methods, sparse_lags(seasons), length, "linear in the same time of past seasons");
    if (seasons.size() > 1)
      add_linear(methods, dense_lags({shortest}), length, "linear in the last values");
  }
  return methods;
}

std::vector<MethodPtr> methods_for(const std::vector<size_t>& seasons,
                                   std::span<const double> series, size_t trained) {
  std::vector<MethodPtr> methods;
  methods.push_back(same_as_last(1));
  for (const size_t count : {size_t{8}, size_t{32}, size_t{128}})
    if (count < trained) {
      methods.push_back(mean_of_last(count));
      methods.push_back(median_of_last(count));
    }
  for (const size_t season : seasons) methods.push_back(same_as_last(season));
  for (auto& method : learners(seasons, trained)) methods.push_back(std::move(method));
  if (*std::min_element(series.begin(), series.end()) > 0) {
    const auto logarithms = logarithms_of(series);
    for (auto& method : learners(seasons, trained))
      methods.push_back(on_logarithms(std::move(method), logarithms));
  }
  return methods;
}

std::vector<double> weights_of(const std::vector<double>& errors) {
  const double least = *std::min_element(errors.begin(), errors.end());
  std::vector<double> weights(errors.size());
  if (!std::isfinite(least)) {  // there was nothing to try them on: the last value it is
    weights[0] = 1;
    return weights;
  }
  for (size_t i = 0; i < errors.size(); ++i)
    weights[i] = std::pow((least + 1e-300) / (errors[i] + 1e-300), kStrictness);
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight = weight / all < kLeastWeight ? 0 : weight / all;
  const double kept = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= kept;
  return weights;
}

/// What was never seen is not told: no negative use of a machine, no double of the largest.
void keep_in_range(std::vector<double>& told, std::span<const double> series) {
  const auto [low, high] = std::minmax_element(series.begin(), series.end());
  const double margin = 0.5 * (*high - *low);
  const double least = *low >= 0 ? std::max(0.0, *low - margin) : *low - margin;
  for (double& value : told)
    value = std::isfinite(value) ? std::clamp(value, least, *high + margin) : series.back();
}

size_t known_of(std::span<const double> values) {
  return static_cast<size_t>(std::count_if(values.begin(), values.end(),
                                           [](double value) { return std::isfinite(value); }));
}

/// What was told right a few times may be wrong by its share of the range the next time; false when
/// the series has none.
bool widened(std::vector<Widths>& widths, std::span<const double> series, size_t times) {
  const auto [low, high] = std::minmax_element(series.begin(), series.end());
  const double least = (*high - *low) / static_cast<double>(times + 1);
  for (auto& width : widths)
    width = {std::max(width.in80, least), std::max(width.in95, 1.5 * least)};
  return least > 0;
}

/// The last values that are known at the same time of the season as the one so many ahead, latest
/// first.
std::vector<double> lately(std::span<const double> known, size_t ahead, size_t season) {
  constexpr size_t kMost = 100;
  std::vector<double> past;
  for (size_t back = (ahead / season + 1) * season - ahead;
       back <= known.size() && past.size() < kMost; back += season)
    if (const double value = known[known.size() - back]; std::isfinite(value))
      past.push_back(value);
  return past;
}

/// Whether more than half of them are that one.
bool is_usual(std::span<const double> values, double value) {
  const auto count = static_cast<size_t>(std::count(values.begin(), values.end(), value));
  return 2 * count > values.size();
}

/// What differs by rounding only is the same.
void reach(double& low, double& high, double least, double most) {
  constexpr double kRounded = 1e-9;
  if (least < low - kRounded * std::abs(least)) low = least;
  if (most > high + kRounded * std::abs(most)) high = most;
}

/// Where one value is what mostly is, as of rain, errors of a middle between values that never are
/// tell little: intervals hold what was there lately, but the rarest.
void hold_usual(std::vector<ForecastPoint>& points, std::span<const double> known, size_t season) {
  constexpr size_t kRecent = 20, kEnoughTurns = 50;
  const size_t enough = season > 1 ? kEnoughTurns : kRecent;
  for (size_t ahead = 0; ahead < points.size(); ++ahead) {
    const auto past = lately(known, ahead, season);
    if (past.size() < enough) continue;
    auto sorted = past;
    std::sort(sorted.begin(), sorted.end());
    const auto at = [&](double share) {
      return sorted[static_cast<size_t>(std::lround(share * static_cast<double>(past.size() - 1)))];
    };
    // Not what was there until a while ago only.
    const double middle = at(0.5);
    if (!is_usual(past, middle) || !is_usual(std::span(past).first(kRecent), middle)) continue;
    auto& point = points[ahead];
    reach(point.low80, point.high80, at(0.1), at(0.9));
    reach(point.low95, point.high95, at(0.025), at(0.975));
  }
}

Forecast told(std::span<const double> series, std::span<const double> known,
              const std::vector<size_t>& seasons, size_t horizon) {
  const TrialWindows windows(series.size(), horizon);
  const size_t tried_on = known_of(known.subspan(windows.trained()));
  if (tried_on < kLeastTriedOn) return {};
  const auto methods = methods_for(seasons, series, windows.trained());
  std::vector<TrialErrors> trials;
  std::vector<double> errors;
  for (const auto& method : methods) {
    method->fit(series.first(windows.trained()));
    trials.push_back(windows.tried(*method, series, known));
    errors.push_back(trials.back().mean());
  }
  const auto weights = weights_of(errors);
  auto width = together(trials, weights).widths(horizon);
  if (width.empty() || (tried_on < kFewTriedOn && !widened(width, series, tried_on))) return {};
  std::vector<double> values(horizon);
  Forecast result;
  for (size_t i = 0; i < methods.size(); ++i) {
    if (weights[i] == 0) continue;
    methods[i]->fit(series);
    auto ahead = methods[i]->ahead(horizon);
    keep_in_range(ahead, series);
    for (size_t j = 0; j < horizon; ++j) values[j] += weights[i] * ahead[j];
    result.methods.push_back({methods[i]->name(), weights[i], errors[i]});
  }
  std::stable_sort(result.methods.begin(), result.methods.end(),
                   [](const auto& a, const auto& b) { return a.weight > b.weight; });
  const double floor = *std::min_element(series.begin(), series.end()) >= 0 ? 0 : -HUGE_VAL;
  for (size_t j = 0; j < horizon; ++j)
    result.points.push_back({values[j], std::max(floor, values[j] - width[j].in80),
                             values[j] + width[j].in80, std::max(floor, values[j] - width[j].in95),
                             values[j] + width[j].in95});
  hold_usual(result.points, known, seasons.empty() ? 1 : seasons.front());
  return result;
}

}  // namespace

Forecast forecast(std::span<const double> values, const ForecastPlan& plan) {
  while (!values.empty() && !std::isfinite(values.front())) values = values.subspan(1);
  if (values.empty() || plan.horizon == 0) return {};
  const auto seasons = usable(plan.seasons, values.size());
  const size_t longest =
      seasons.empty() ? kLongest : std::max(kLongest, kLongestTurns * seasons.back());
  const auto series = filled(values, seasons);
  const size_t used = std::min(longest, series.size());
  return told(std::span(series).last(used), values.last(used), seasons, plan.horizon);
}

std::vector<size_t> seasons_of(const std::vector<Cycle>& cycles, size_t length,
                               double step_seconds) {
  std::vector<size_t> seasons;
  for (const auto& cycle : cycles)
    if (cycle.period >= 2 && seasons.size() < 2)
      seasons.push_back(static_cast<size_t>(std::lround(cycle.period)));
  std::sort(seasons.begin(), seasons.end());
  if (!(step_seconds > 0)) return seasons;
  const double day = 86400 / step_seconds, week = 7 * day;
  const bool calendar = std::any_of(seasons.begin(), seasons.end(), [&](size_t season) {
    const auto period = static_cast<double>(season);
    return std::abs(period / day - 1) < 0.02 || std::abs(period / week - 1) < 0.02;
  });
  if (calendar && day >= 2 && 3 * week <= static_cast<double>(length))
    return {static_cast<size_t>(std::lround(day)), static_cast<size_t>(std::lround(week))};
  return seasons;
}

}  // namespace assay::analysis
