// SPDX-License-Identifier: Apache-2.0
#include "drifts.h"
#include "few_turns.h"
#include "lone_values.h"
#include "medians.h"
#include "prepared.h"
#include "spells.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/analysis/series_analysis.h>

// The best partition into levels, each change paid for (optimal partitioning with pruning, PELT).
namespace assay::analysis {

namespace {

/// Longer series are looked at in as many steps: a change is then told that much less exactly.
constexpr size_t kSteps = 2000;
/// What a change costs, in variances of the noise and logarithms of the length.
constexpr double kPrice = 4;
/// A level holds for at least so many steps.
constexpr size_t kShortest = 5;
/// So many on both sides of a change are near it.
constexpr size_t kNear = 10;
/// A change of less than this share of what all of a few turns have in common is one of theirs.
constexpr double kOfTurns = 0.5;
/// What has lost this share of its change when the next one comes is no other level; less is
/// enough where the loss is so many deviations of the noise.
constexpr double kGone = 0.5, kClearlyGone = 0.2, kClearly = 4;
/// Of a series of spells, a level holds for at least so many of them.
constexpr double kFewestTurns = 5;

struct Steps {
  std::vector<double> values;  ///< gaps are filled with what was before
  std::vector<size_t> places;  ///< where a value is known
  size_t width = 1;            ///< of a step, in values of the series

  /// What is filled in is no evidence of a level.
  std::vector<double> known() const {
    std::vector<double> found;
    found.reserve(places.size());
    for (const size_t place : places) found.push_back(values[place]);
    return found;
  }
};

Steps in_steps(const std::vector<double>& values) {
  Steps steps;
  steps.width = (values.size() + kSteps - 1) / kSteps;
  double last = std::numeric_limits<double>::quiet_NaN();
  for (size_t from = 0; from < values.size(); from += steps.width) {
    double sum = 0, count = 0;
    for (size_t i = from; i < std::min(values.size(), from + steps.width); ++i)
      if (std::isfinite(values[i])) {
        sum += values[i];
        ++count;
      }
    if (count > 0) {
      last = sum / count;
      steps.places.push_back(steps.values.size());
    }
    steps.values.push_back(last);
  }
  const auto first = std::find_if(steps.values.begin(), steps.values.end(),
                                  [](double value) { return std::isfinite(value); });
  if (first == steps.values.end()) return {};
  std::fill(steps.values.begin(), first, *first);
  return steps;
}

/// The variance of what is not a change of level, by differences over several distances: of noise
/// with a memory the far ones are larger, and it is those that look like changes.
double noise_variance(const std::vector<double>& values) {
  double most = 0;
  for (size_t apart = 1; apart <= 8 && 4 * apart < values.size(); apart *= 2) {
    std::vector<double> differences;
    for (size_t i = apart; i < values.size(); ++i)
      differences.push_back(std::abs(values[i] - values[i - apart]));
    const double deviation = deviation_by(differences);
    most = std::max(most, deviation * deviation);
  }
  return most;
}

/// The same of a few that are far from the others, too: a change is but one of the differences.
double rough_variance(const std::vector<double>& values) {
  double squares = 0;
  for (size_t i = 1; i < values.size(); ++i)
    squares += (values[i] - values[i - 1]) * (values[i] - values[i - 1]);
  return values.empty() ? 0 : 0.5 * squares / static_cast<double>(values.size());
}

/// How many values in a row say the same, roughly.
double memory(const std::vector<double>& values) {
  double mean = 0, own = 0, next = 0;
  for (size_t i = 1; i < values.size(); ++i)
    mean += (values[i] - values[i - 1]) / static_cast<double>(values.size() - 1);
  for (size_t i = 2; i < values.size(); ++i) {
    const double here = values[i] - values[i - 1] - mean;
    own += here * here;
    next += here * (values[i - 1] - values[i - 2] - mean);
  }
  // White noise has differences that are correlated by -1/2; a random walk's are not.
  const double correlation = own > 0 ? std::clamp(next / own, -0.5, 0.3) : -0.5;
  return 1 + 40 * (correlation + 0.5);
}

class Levels {
 public:
  explicit Levels(const std::vector<double>& values) : sums_(values.size() + 1), squares_(sums_) {
    for (size_t i = 0; i < values.size(); ++i) {
      sums_[i + 1] = sums_[i] + values[i];
      squares_[i + 1] = squares_[i] + values[i] * values[i];
    }
  }
  double mean(size_t from, size_t to) const {
    return (sums_[to] - sums_[from]) / static_cast<double>(to - from);
  }
  /// What one level for all of these leaves unexplained.
  double cost(size_t from, size_t to) const {
    const double sum = sums_[to] - sums_[from];
    return squares_[to] - squares_[from] - sum * sum / static_cast<double>(to - from);
  }

 private:
  std::vector<double> sums_, squares_;
};

/// The ends of the levels, the last one included.
std::vector<size_t> partition(const Levels& levels, size_t length, double price,
                              size_t shortest = kShortest) {
  std::vector<double> best(length + 1, std::numeric_limits<double>::infinity());
  std::vector<size_t> before(length + 1);
  std::vector<size_t> starts = {0};
  best[0] = -price;
  for (size_t end = shortest; end <= length; ++end) {
    for (const size_t start : starts) {
      const double cost = best[start] + levels.cost(start, end) + price;
      if (end - start < shortest || cost >= best[end]) continue;
      best[end] = cost;
      before[end] = start;
    }
    std::erase_if(starts, [&](size_t start) {
      return end - start >= shortest && best[start] + levels.cost(start, end) > best[end];
    });
    if (std::isfinite(best[end])) starts.push_back(end);
  }
  std::vector<size_t> ends;
  for (size_t end = length; end > 0; end = before[end]) ends.push_back(end);
  std::reverse(ends.begin(), ends.end());
  return ends;
}

std::vector<double> without_cycles(const std::vector<double>& values,
                                   const std::vector<Cycle>& cycles) {
  Prepared series;
  series.values = values;
  series.known.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    series.known[i] = std::isfinite(values[i]) ? 1 : 0;
    series.count += series.known[i];
    if (!series.known[i]) series.values[i] = 0;
  }
  if (series.count == 0) return values;
  double mean = 0;
  for (size_t i = 0; i < values.size(); ++i) mean += series.values[i];
  mean /= static_cast<double>(series.count);
  for (size_t i = 0; i < values.size(); ++i)
    if (series.known[i]) series.values[i] -= mean;
  for (const auto& cycle : cycles) remove_cycle(series, cycle.period);
  for (size_t i = 0; i < values.size(); ++i)
    series.values[i] = series.known[i] ? series.values[i] + mean : values[i];
  return series.values;
}

/// Whether the level changes at once there, and not little by little as a slow wave does.
bool is_sudden(const Levels& levels, size_t from, size_t at, size_t to) {
  const double near =
      levels.mean(at, std::min(to, at + kNear)) - levels.mean(at - std::min(at - from, kNear), at);
  const double far = levels.mean(at, to) - levels.mean(from, at);
  return near / far > 0.6;
}

/// By how much the series rises from one value to the next, from here to there.
double slope(const Levels& levels, size_t from, size_t to) {
  const size_t half = (to - from) / 2;
  if (half == 0) return 0;
  return (levels.mean(to - half, to) - levels.mean(from, from + half)) /
         static_cast<double>(to - from - half);
}

/// The value behind the longest gap near that one.
size_t behind_gap(const std::vector<size_t>& places, size_t at) {
  size_t best = at;
  const size_t from = at - std::min(at - 1, kNear), to = std::min(places.size(), at + kNear);
  for (size_t i = from; i < to; ++i)
    if (places[i] - places[i - 1] > places[best] - places[best - 1]) best = i;
  return best;
}

/// Whether there is a gap near that value in which the series went on as it does beside it.
bool is_drift(const Levels& levels, const std::vector<size_t>& places, size_t near) {
  const size_t at = behind_gap(places, near);
  const size_t gap = places[at] - places[at - 1];
  if (gap < kShortest) return false;
  const size_t window = std::max(gap, 6 * kNear);
  const size_t from = at - std::min(at, window), to = std::min(places.size(), at + window);
  const double before = slope(levels, from, at), after = slope(levels, at, to);
  const size_t left = std::min(at, kNear), right = std::min(places.size() - at, kNear);
  const double jump = levels.mean(at, at + right) - levels.mean(at - left, at);
  // From the middle of the values that were taken before it to the middle of those behind it.
  const double length = static_cast<double>(gap) + 0.5 * static_cast<double>(left + right) - 1;
  return std::abs(jump - 0.5 * (before + after) * length) < 0.5 * std::abs(jump);
}

/// Without those between which the series only drifts. The end stays.
std::vector<size_t> sudden(const std::vector<size_t>& ends, const Levels& levels,
                           const std::vector<size_t>& places) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < ends.size(); ++i)
    if (i + 1 == ends.size() || (is_sudden(levels, i ? ends[i - 1] : 0, ends[i], ends[i + 1]) &&
                                 !is_drift(levels, places, ends[i])))
      kept.push_back(ends[i]);
  return kept;
}

std::vector<Level> levels_of(const std::vector<size_t>& ends, const Levels& levels) {
  std::vector<Level> found;
  for (size_t from = 0; const size_t end : ends) {
    found.push_back({from, end, levels.mean(from, end)});
    from = end;
  }
  return found;
}

/// The ends of what lasts for many spells, where so many of them are others.
std::vector<size_t> lasting(const Spells& spells, const Levels& levels, size_t length) {
  const double turns = static_cast<double>(length) / spells.turn;
  const auto shortest = static_cast<size_t>(kFewestTurns * spells.turn);
  if (length < 2 * shortest) return {length};
  return partition(levels, length, kPrice * std::log(turns) * spells.variance, shortest);
}

/// Where values are that are of no spell.
std::vector<size_t> between(const Spells& spells, const Steps& steps) {
  std::vector<size_t> places;
  for (size_t i = 0; i < steps.places.size(); ++i)
    if (!spells.holds(i, steps.values[steps.places[i]])) places.push_back(steps.places[i]);
  return places;
}

/// Whether all turns have a slope there that is far steeper: one of them has a little more of it.
bool is_of_turns(const ChangePoint& change, const std::vector<double>& with_turns,
                 const Steps& steps) {
  const size_t at = change.at / steps.width;
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (size_t i = at - std::min(at, kNear / 2); i < std::min(with_turns.size(), at + kNear / 2);
       ++i) {
    const double common = with_turns[i] - steps.values[i];
    low = std::min(low, common);
    high = std::max(high, common);
  }
  return std::abs(change.after - change.before) < kOfTurns * (high - low);
}

std::vector<ChangePoint> changes_of(const std::vector<size_t>& ends, const Levels& levels,
                                    const Steps& steps) {
  std::vector<ChangePoint> changes;
  const auto found = levels_of(ends, levels);
  for (size_t i = 1; i < found.size(); ++i)
    changes.push_back(
        {steps.places[found[i].begin] * steps.width, found[i - 1].mean, found[i].mean});
  return changes;
}

/// Levels of less than a turn as they are in the data: without a cycle that is not there they would
/// be none of its values.
void tell_as_they_are(std::vector<ChangePoint>& changes, const std::vector<double>& values,
                      const std::vector<Cycle>& cycles) {
  double turn = 0;
  for (const auto& cycle : cycles) turn = std::max(turn, cycle.period);
  const auto level = [&](size_t from, size_t to, double otherwise) {
    double sum = 0, count = 0;
    for (size_t i = from; i < to; ++i)
      if (std::isfinite(values[i])) {
        sum += values[i];
        ++count;
      }
    return static_cast<double>(to - from) < turn && count > 0 ? sum / count : otherwise;
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    auto& change = changes[i];
    change.before = level(i ? changes[i - 1].at : 0, change.at, change.before);
    change.after =
        level(change.at, i + 1 < changes.size() ? changes[i + 1].at : values.size(), change.after);
  }
}

/// Without those that are not worth their price any more, as others between them were left out.
void drop_unpaid(std::vector<size_t>& ends, const Levels& levels, double price) {
  while (ends.size() > 1) {
    size_t least = 0;
    double gain = HUGE_VAL;
    for (size_t i = 0; i + 1 < ends.size(); ++i) {
      const size_t from = i ? ends[i - 1] : 0, to = ends[i + 1];
      const double here =
          levels.cost(from, to) - levels.cost(from, ends[i]) - levels.cost(ends[i], to);
      if (here >= gain) continue;
      gain = here;
      least = i;
    }
    if (gain >= price) return;
    ends.erase(ends.begin() + static_cast<ptrdiff_t>(least));
  }
}

/// Whether the series goes back by itself, as a flood recedes, to what was before that change.
bool goes_back(const Levels& levels, size_t from, size_t at, size_t to, double variance) {
  const size_t near = std::min(to - at, kNear);
  const double before = levels.mean(at - std::min(at - from, kNear), at);
  const double first = levels.mean(at, at + near), last = levels.mean(to - near, to);
  const double gone = (first - last) / (first - before);
  const double deviation = std::sqrt(2 * variance / static_cast<double>(near));
  return gone > kGone || (gone > kClearlyGone && std::abs(first - last) > kClearly * deviation);
}

/// Each by what goes on until the next one, also when that one goes back itself.
std::vector<size_t> without_those_that_go_back(const std::vector<size_t>& ends,
                                               const Levels& levels, double variance) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < ends.size(); ++i)
    if (i + 1 == ends.size() ||
        !goes_back(levels, i ? ends[i - 1] : 0, ends[i], ends[i + 1], variance))
      kept.push_back(ends[i]);
  if (kept.size() == ends.size()) return kept;
  return without_those_that_go_back(kept, levels, variance);
}

std::vector<ChangePoint> sudden_changes(const std::vector<size_t>& all_ends, const Levels& levels,
                                        const Steps& steps, double variance, double price) {
  auto ends = sudden(all_ends, levels, steps.places);
  const auto stepped = without_drifts(all_ends, steps.known(), steps.places, variance);
  std::erase_if(
      ends, [&](size_t end) { return !std::binary_search(stepped.begin(), stepped.end(), end); });
  ends = without_those_that_go_back(ends, levels, variance);
  drop_unpaid(ends, levels, price);
  return changes_of(ends, levels, steps);
}

}  // namespace

std::vector<ChangePoint> find_changes(const std::vector<double>& all_values,
                                      const std::vector<Cycle>& cycles) {
  const auto values = without_lone_values(all_values);
  Steps steps = in_steps(cycles.empty() ? values : without_cycles(values, cycles));
  const size_t length = steps.places.size();
  if (length < 3 * kShortest) return {};
  const double noise = noise_variance(steps.known());
  const auto with_turns = steps.values;
  steps.values = without_few_turns(std::move(steps.values), noise);
  const auto known = steps.known();
  Levels levels(known);
  const double all = Levels(in_steps(values).known()).cost(0, length);
  // Without any noise, a hundredth of all variation, cycles included, is what does not matter.
  const double variance = std::max(noise * memory(known), 0.01 * all / static_cast<double>(length));
  const double price = kPrice * std::log(static_cast<double>(length)) * variance;
  if (!(price > 0)) return {};
  auto all_ends = partition(levels, length, price);
  std::vector<ChangePoint> of_spells;
  if (const auto spells = spells_of(levels_of(all_ends, levels))) {
    of_spells = changes_of(lasting(*spells, levels, length), levels, steps);
    // What changed between them is told first: it is known where.
    steps.places = between(*spells, steps);
    const auto rest = steps.known();
    levels = Levels(rest);
    all_ends =
        partition(levels, rest.size(), price * std::max(1.0, rough_variance(rest) / variance),
                  static_cast<size_t>(spells->turn));
  }
  auto changes = sudden_changes(all_ends, levels, steps, variance, price);
  std::erase_if(changes,
                [&](const ChangePoint& change) { return is_of_turns(change, with_turns, steps); });
  if (changes.empty()) return of_spells;
  tell_as_they_are(changes, values, cycles);
  return changes;
}

}  // namespace assay::analysis
