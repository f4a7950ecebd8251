// SPDX-License-Identifier: Apache-2.0
#include "made_series.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <random>

namespace assay::analysis {

namespace {

constexpr size_t kLengths[] = {200, 400, 700, 1000, 2000, 5000};

/// Not the standard library's distributions: they differ from one library to the next.
class Chance {
 public:
  explicit Chance(uint64_t seed) : engine_(seed) {}
  double share() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  size_t below(size_t count) { return static_cast<size_t>(share() * static_cast<double>(count)); }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - share()));
    return radius * std::cos(2 * std::numbers::pi * share());
  }

 private:
  std::mt19937_64 engine_;
};

/// Mean 0 and variance 1.
std::vector<double> cycle_of(size_t shape, double period, size_t length, Chance& chance) {
  const double phase = chance.share() * period, busy = 0.1 + 0.6 * chance.share();
  const double second = 0.7 * chance.share(), turn = 2 * std::numbers::pi;
  const double second_phase = turn * chance.share();
  std::vector<double> values(length);
  double mean = 0, squares = 0;
  for (size_t i = 0; i < length; ++i) {
    const double at = std::fmod(static_cast<double>(i) + phase, period) / period;
    switch (shape) {
      case 0:
        values[i] = std::sin(turn * at);
        break;
      case 1:
        values[i] = at < busy ? 1 : -1;
        break;
      case 2:
        values[i] = 2 * at - 1;
        break;
      case 3:
        values[i] = std::exp(-std::pow((at - 0.5) / 0.08, 2));
        break;
      default:
        values[i] = std::sin(turn * at) + second * std::sin(2 * turn * at + second_phase);
    }
    mean += values[i] / static_cast<double>(length);
  }
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(length)) + 1e-12;
  for (double& value : values) value = (value - mean) / deviation;
  return values;
}

void add(std::vector<double>& values, const std::vector<double>& more, double weight) {
  for (size_t i = 0; i < values.size(); ++i) values[i] += weight * more[i];
}

void add_walk(std::vector<double>& values, double step, Chance& chance) {
  double level = 0;
  for (double& value : values) value += level += step * chance.normal();
}

void add_noise(std::vector<double>& values, double deviation, Chance& chance) {
  for (double& value : values) value += deviation * chance.normal();
}

void add_slow_change(std::vector<double>& values, Chance& chance) {
  const auto length = static_cast<double>(values.size());
  const double what = chance.share(), size = chance.share() - 0.5;
  if (what < 0.3) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] += 8 * size * static_cast<double>(i) / length;
  } else if (what < 0.5) {
    add_walk(values, 3 / std::sqrt(length), chance);
  } else if (what < 0.6) {
    const auto from = static_cast<size_t>(length * (0.2 + 0.6 * chance.share()));
    for (size_t i = from; i < values.size(); ++i) values[i] += 6 * size;
  }
}

void spoil(std::vector<double>& values, Chance& chance) {
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  const auto length = static_cast<double>(values.size());
  if (chance.share() < 0.3) {
    const double share = 0.02 + 0.15 * chance.share();
    for (double& value : values)
      if (chance.share() < share) value = kMissing;
  }
  if (chance.share() < 0.2) {
    const auto from = static_cast<std::ptrdiff_t>(0.8 * length * chance.share());
    const auto count = static_cast<std::ptrdiff_t>(0.1 * length * chance.share());
    std::fill_n(values.begin() + from, count, kMissing);
  }
  if (chance.share() < 0.2)
    for (int i = 0; i < 3; ++i) values[chance.below(values.size())] += 20 * chance.normal();
}

void fill_without_cycle(MadeSeries& made, Chance& chance) {
  auto& values = made.values;
  double level = 0;
  switch (chance.below(7)) {
    case 0:
      made.what = "noise";
      add_noise(values, 1, chance);
      break;
    case 1:
      made.what = "random walk";
      add_walk(values, 1, chance);
      break;
    case 2: {
      made.what = "noise with a memory";
      const double kept =
          chance.share() < 0.5 ? 0.5 + 0.4 * chance.share() : 0.9 + 0.099 * chance.share();
      for (double& value : values) value = level = kept * level + chance.normal();
      break;
    }
    case 3: {
      made.what = "trend";
      const double slope = 10 * chance.share() / static_cast<double>(values.size());
      for (size_t i = 0; i < values.size(); ++i) values[i] = slope * static_cast<double>(i);
      add_noise(values, 1, chance);
      break;
    }
    case 4:
      made.what = "steps";
      for (double& value : values) {
        if (chance.share() < 0.01) level = 3 * chance.normal();
        value = level + 0.5 * chance.normal();
      }
      break;
    case 5:
      made.what = "random walk and noise";
      add_walk(values, 1, chance);
      add_noise(values, 2, chance);
      break;
    default:
      made.what = "bursts";
      for (double& value : values)
        value = chance.share() < 0.03 ? 5 * chance.share() : 0.1 * chance.normal();
  }
}

}  // namespace

MadeSeries make_cyclic(uint64_t number) {
  Chance chance(number);
  const size_t length = kLengths[chance.below(std::size(kLengths))];
  const auto samples = static_cast<double>(length);
  MadeSeries made{std::vector<double>(length), {}, "cycle"};
  const double turns = 6 * std::pow(samples / 36, chance.share());
  const double period = std::max(4.0, samples / turns);
  add(made.values, cycle_of(chance.below(5), period, length, chance), 1);
  made.periods.push_back(period);
  if (chance.share() < 0.3) {
    const bool whole = chance.share() < 0.5;
    const double times = whole ? std::floor(4 + 8 * chance.share()) : 3.3 + 8 * chance.share();
    if (samples / (period * times) >= 6) {
      add(made.values, cycle_of(chance.below(5), period * times, length, chance),
          0.6 + 0.8 * chance.share());
      made.periods.push_back(period * times);
      made.what = "two cycles";
    }
  }
  add_noise(made.values, chance.share(), chance);
  add_slow_change(made.values, chance);
  spoil(made.values, chance);
  return made;
}

MadeSeries make_without_cycle(uint64_t number) {
  Chance chance(~number);
  MadeSeries made{std::vector<double>(kLengths[chance.below(std::size(kLengths))]), {}, ""};
  fill_without_cycle(made, chance);
  spoil(made.values, chance);
  return made;
}

}  // namespace assay::analysis
