// SPDX-License-Identifier: Apache-2.0
// How well cycles are found and values told: series_accuracy made|m4|duty|speed ..., as JSON.
#include "testing/made_series.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <random>
#include <sstream>

#include <assay/analysis/series_analysis.h>

namespace {

using namespace assay::analysis;
using Values = std::vector<double>;
using nlohmann::json;
constexpr double kHour = 3600;

double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

bool is_period(double found, double truth) {
  return found > 0 && std::abs(found / truth - 1) <= 0.02;
}

// --- made series

struct Counts {
  int right = 0, wrong = 0, missed = 0;
  double f1() const { return 2.0 * right / (2 * right + wrong + missed); }
};

void count(Values found, const Values& truth, Counts& counts) {
  for (const double period : truth) {
    const auto same = std::find_if(found.begin(), found.end(),
                                   [&](double one) { return is_period(one, period); });
    if (same == found.end()) {
      ++counts.missed;
      continue;
    }
    ++counts.right;
    found.erase(same);
  }
  counts.wrong += static_cast<int>(found.size());
}

Values periods_of(const Values& values) {
  Values periods;
  for (const auto& cycle : find_cycles(values)) periods.push_back(cycle.period);
  return periods;
}

/// The other rule knows no gaps: the last value stands in for what is missing.
Values by_rule(Values values) {
  double last = 0;
  for (double& value : values) value = last = std::isfinite(value) ? value : last;
  const double period = period_by_autocorrelation_rule(values);
  return period > 0 ? Values{period} : Values{};
}

json made(uint64_t count_of_each, uint64_t first) {
  Counts ours, rule;
  int alarms = 0, rule_alarms = 0;
  for (uint64_t number = first; number < first + count_of_each; ++number) {
    const auto cyclic = make_cyclic(number), plain = make_without_cycle(number);
    count(periods_of(cyclic.values), cyclic.periods, ours);
    count(by_rule(cyclic.values), cyclic.periods, rule);
    const auto found = periods_of(plain.values), found_by_rule = by_rule(plain.values);
    alarms += !found.empty();
    rule_alarms += !found_by_rule.empty();
    count(found, {}, ours);
    count(found_by_rule, {}, rule);
  }
  return {{"f1", ours.f1()},
          {"alarms", alarms},
          {"right", ours.right},
          {"wrong", ours.wrong},
          {"missed", ours.missed},
          {"rule_f1", rule.f1()},
          {"rule_alarms", rule_alarms},
          {"series", count_of_each}};
}

// --- M4

std::vector<Values> read_rows(const std::string& file) {
  std::ifstream in(file);
  std::vector<Values> rows;
  for (std::string line; std::getline(in, line);) {
    std::stringstream cells(line);
    std::string cell;
    std::getline(cells, cell, ',');
    auto& row = rows.emplace_back();
    while (std::getline(cells, cell, ','))
      if (!cell.empty() && cell != "\r") row.push_back(std::stod(cell));
  }
  return rows;
}

struct Score {
  double smape = 0, mase = 0;
};

double seasonal_scale(const Values& series, size_t season) {
  double sum = 0;
  for (size_t i = season; i < series.size(); ++i) sum += std::abs(series[i] - series[i - season]);
  return sum / static_cast<double>(series.size() - season);
}

Score score(const Values& told, const Values& truth, double scale) {
  Score sum;
  const auto n = static_cast<double>(truth.size());
  for (size_t i = 0; i < truth.size(); ++i) {
    const double miss = std::abs(told[i] - truth[i]);
    sum.smape += 200 * miss / (std::abs(told[i]) + std::abs(truth[i])) / n;
    sum.mase += miss / scale / n;
  }
  return sum;
}

double autocorrelation(const Values& y, size_t lag) {
  const double mean = std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(y.size());
  double with = 0, own = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    own += (y[i] - mean) * (y[i] - mean);
    if (i >= lag) with += (y[i] - mean) * (y[i - lag] - mean);
  }
  return with / own;
}

/// As the competition defined it: seasonal where the 90 % test says so.
bool is_seasonal(const Values& y, size_t season) {
  double sum = 0;
  for (size_t lag = 1; lag < season; ++lag) sum += std::pow(autocorrelation(y, lag), 2);
  const double limit = 1.645 * std::sqrt((1 + 2 * sum) / static_cast<double>(y.size()));
  return std::abs(autocorrelation(y, season)) > limit;
}

/// The classical multiplicative seasonal indices.
Values indices(const Values& y, size_t season) {
  Values sums(season), counts(season);
  const size_t half = season / 2;
  for (size_t i = half; i + half < y.size(); ++i) {
    double mean = 0.5 * (y[i - half] + y[i + half]);
    for (size_t j = i - half + 1; j < i + half; ++j) mean += y[j];
    sums[i % season] += y[i] / (mean / static_cast<double>(season));
    ++counts[i % season];
  }
  double all = 0;
  for (size_t i = 0; i < season; ++i) all += (sums[i] /= counts[i]) / static_cast<double>(season);
  for (double& index : sums) index /= all;
  return sums;
}

Values naive2(const Values& y, size_t horizon) {
  constexpr size_t kDay = 24;
  Values told(horizon, y.back());
  if (!is_seasonal(y, kDay)) return told;
  const auto index = indices(y, kDay);
  for (size_t i = 0; i < horizon; ++i)
    told[i] = y.back() / index[(y.size() - 1) % kDay] * index[(y.size() + i) % kDay];
  return told;
}

Values last_season(const Values& y, size_t season, size_t horizon) {
  Values told(horizon);
  for (size_t i = 0; i < horizon; ++i) told[i] = y[y.size() - season + i % season];
  return told;
}

struct Coverage {
  double in80 = 0, in95 = 0, all = 0;
  void add(const Forecast& told, const Values& truth) {
    for (size_t i = 0; i < truth.size(); ++i, ++all) {
      const auto& point = told.points[i];
      in80 += truth[i] >= point.low80 && truth[i] <= point.high80;
      in95 += truth[i] >= point.low95 && truth[i] <= point.high95;
    }
  }
};

Values values_of(const Forecast& told) {
  Values values;
  for (const auto& point : told.points) values.push_back(point.value);
  return values;
}

json m4_forecasts(const std::vector<Values>& train, const std::vector<Values>& test) {
  std::map<std::string, Score> sums;
  std::map<std::string, Coverage> coverage;
  double spent = 0;
  const auto n = static_cast<double>(train.size());
  const auto add = [&](const std::string& name, const Values& told, size_t i) {
    const Score one = score(told, test[i], seasonal_scale(train[i], 24));
    sums[name].smape += one.smape / n;
    sums[name].mase += one.mase / n;
  };
  for (size_t i = 0; i < train.size(); ++i) {
    const size_t horizon = test[i].size();
    add("naive2", naive2(train[i], horizon), i);
    add("snaive", last_season(train[i], 24, horizon), i);
    Forecast told, found;
    spent += milliseconds([&] { told = forecast(train[i], {horizon, {24, 168}}); });
    found =
        forecast(train[i], {horizon, seasons_of(find_cycles(train[i]), train[i].size(), kHour)});
    add("ours", values_of(told), i);
    add("ours_found", values_of(found), i);
    for (const size_t few : {1, 2, 4})
      coverage[fmt::format("ahead_{}", few)].add(
          forecast(train[i], {few, {24, 168}}),
          {test[i].begin(), test[i].begin() + static_cast<std::ptrdiff_t>(few)});
    coverage["ours"].add(told, test[i]);
    coverage["ours_found"].add(found, test[i]);
  }
  json result;
  for (const auto& [name, sum] : sums)
    result[name] = {
        {"smape", sum.smape},
        {"mase", sum.mase},
        {"owa", 0.5 * (sum.smape / sums["naive2"].smape + sum.mase / sums["naive2"].mase)}};
  for (const auto& [name, held] : coverage) {
    result[name]["in80"] = 100 * held.in80 / held.all;
    result[name]["in95"] = 100 * held.in95 / held.all;
  }
  result["ms_each"] = spent / n;
  return result;
}

/// How far values are from those a period ago, on average, found and as the hours of a day or week
/// would have it.
json differences(const Values& series, double found) {
  const auto period = std::max(1.0, std::round(found));
  return {{"found", found},
          {"differs", seasonal_scale(series, static_cast<size_t>(period))},
          {"differs_24", seasonal_scale(series, 24)},
          {"differs_168", seasonal_scale(series, 168)}};
}

json m4_cycles(const std::vector<Values>& train) {
  std::mt19937_64 engine(1);
  std::normal_distribution<> normal;
  int right = 0, by_other_rule = 0, shuffled_alarms = 0, walk_alarms = 0;
  json others = json::object();
  for (size_t i = 0; i < train.size(); ++i) {
    const auto found = periods_of(train[i]);
    const auto good = [](double period) { return is_period(period, 24) || is_period(period, 168); };
    const bool strongest = !found.empty() && good(found.front());
    right += strongest;
    if (!strongest)
      others[fmt::format("H{}", i + 1)] = differences(train[i], found.empty() ? 0 : found.front());
    const auto rule = by_rule(train[i]);
    by_other_rule += !rule.empty() && good(rule.front());
    auto shuffled = train[i];
    std::shuffle(shuffled.begin(), shuffled.end(), engine);
    shuffled_alarms += !find_cycles(shuffled).empty();
  }
  constexpr int kWalks = 2000;
  for (int i = 0; i < kWalks; ++i) {
    Values walk(960);
    double level = 0;
    for (double& value : walk) value = level += normal(engine);
    walk_alarms += !find_cycles(walk).empty();
  }
  return {{"series", train.size()},
          {"right", right},
          {"rule_right", by_other_rule},
          {"shuffled", shuffled_alarms},
          {"walks", walk_alarms},
          {"all_walks", kWalks},
          {"others", others}};
}

// --- duty cycles of GPUs

/// A column for each pod; the first is the time.
json duty(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  std::vector<Values> columns;
  while (std::getline(in, line)) {
    std::stringstream cells(line);
    std::string cell;
    std::getline(cells, cell, ',');
    for (size_t i = 0; std::getline(cells, cell, ','); ++i) {
      if (columns.size() <= i) columns.emplace_back();
      columns[i].push_back(cell.empty() || cell == "\r" ? std::numeric_limits<double>::quiet_NaN()
                                                        : std::stod(cell));
    }
  }
  constexpr size_t kAhead = 60;
  constexpr double kMinute = 60;
  std::map<std::string, double> sums;
  Coverage coverage;
  int places = 0;
  for (auto& column : columns) {
    std::erase_if(column, [](double value) { return !std::isfinite(value); });
    for (size_t tenth = 5; tenth <= 9; ++tenth) {
      const size_t from = column.size() * tenth / 10;
      if (from + kAhead > column.size()) continue;
      const Values known(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(from));
      const Values next(column.begin() + static_cast<std::ptrdiff_t>(from),
                        column.begin() + static_cast<std::ptrdiff_t>(from + kAhead));
      const double scale = seasonal_scale(known, 1);
      if (!(scale > 0)) continue;
      const auto seasons = seasons_of(find_cycles(known), known.size(), kMinute);
      const auto told = forecast(known, {kAhead, seasons});
      sums["ours"] += score(values_of(told), next, scale).mase;
      sums["last"] += score(last_season(known, 1, kAhead), next, scale).mase;
      sums["hour"] += score(last_season(known, kAhead, kAhead), next, scale).mase;
      sums["season"] +=
          score(last_season(known, seasons.empty() ? kAhead : seasons.back(), kAhead), next, scale)
              .mase;
      coverage.add(told, next);
      ++places;
    }
  }
  json result = {{"places", places}, {"pods", columns.size()}};
  for (const auto& [name, sum] : sums) result[name] = sum / places;
  result["in80"] = 100 * coverage.in80 / coverage.all;
  result["in95"] = 100 * coverage.in95 / coverage.all;
  return result;
}

// --- speed

json speed() {
  std::mt19937_64 engine(1);
  std::normal_distribution<> normal;
  const auto wave = [&](size_t length, double period) {
    Values values(length);
    for (size_t i = 0; i < length; ++i)
      values[i] =
          10 + std::sin(2 * std::numbers::pi * static_cast<double>(i) / period) + normal(engine);
    return values;
  };
  const auto one = wave(100'000, 1440), thousand = wave(1000, 24);
  auto two = one;
  for (size_t i = 0; i < two.size(); ++i)
    two[i] += std::sin(2 * std::numbers::pi * static_cast<double>(i) / 60);
  Values found, found_two, told;
  for (int i = 0; i < 15; ++i) {
    found.push_back(milliseconds([&] { find_cycles(one); }));
    found_two.push_back(milliseconds([&] { find_cycles(two); }));
    told.push_back(milliseconds([&] { forecast(thousand, {48, {24, 168}}); }));
  }
  const auto middle = [](Values values) {
    std::sort(values.begin(), values.end());
    return json{{"least", values.front()}, {"median", values[values.size() / 2]}};
  };
  return {{"cycles_100k", middle(found)},
          {"two_cycles_100k", middle(found_two)},
          {"forecast_1000", middle(told)}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  json result;
  if (what == "made" && (argc == 3 || argc == 4))
    result = made(std::stoull(argv[2]), argc == 4 ? std::stoull(argv[3]) : 0);
  else if (what == "m4" && argc == 3) {
    const std::string folder = argv[2];
    const auto train = read_rows(folder + "/hourly_train.csv");
    result = {{"cycles", m4_cycles(train)},
              {"forecasts", m4_forecasts(train, read_rows(folder + "/hourly_test.csv"))}};
  } else if (what == "duty" && argc == 3)
    result = duty(argv[2]);
  else if (what == "speed")
    result = speed();
  else {
    fmt::print(stderr,
               "usage: series_accuracy made COUNT [FIRST] | m4 FOLDER | duty FILE | speed\n");
    return 2;
  }
  fmt::print("{}\n", result.dump());
  return 0;
}
