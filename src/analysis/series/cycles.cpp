// SPDX-License-Identifier: Apache-2.0
#include "likeness.h"
#include "prepared.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <assay/analysis/cycles.h>

// A cycle has to convince twice: its frequency stands out of the spectrum's neighbourhood, and
// turns are alike, which the covariance at its multiples tells. The first alone would believe in
// what happened a few times by chance, the second alone in what only changes slowly.
namespace assay::analysis {

namespace {

constexpr double kShortest = 2.2;
constexpr double kFewestTurns = 4;
constexpr size_t kMostCycles = 3;
/// How many multiples of a peak's period are looked at: a spiky cycle has its power in harmonics.
constexpr int kMultiples = 6;
constexpr int kHarmonics = 4;
/// How many peaks of the spectrum and tops of the covariance are looked at.
constexpr size_t kPeaks = 16, kTops = 8;
/// What peaks must stand out to be looked at.
constexpr double kPeak = 3.5;
/// Cycles beside others have to stand out by this share of what is significant.
constexpr double kRemainder = 0.8;
/// What periods may differ in and be told as the same.
constexpr double kAsGood = 1e-3;
/// What stands out so many times as far as is significant is there by itself.
constexpr double kOfItsOwn = 4;
/// Nearer to each other, two periods are those of one uneven cycle.
constexpr double kApart = 1.25;
/// What is near a cycle is something by itself when its turns are so much alike.
constexpr double kAlikeBeside = 0.6;
/// Frequencies that differ by less than this share are the same.
constexpr double kSameFrequency = 0.01;
/// What is left of the variance is too little to be worth a look.
constexpr double kLittle = 0.003;

struct Candidate {
  double period = 0;
  double alike = 0;        ///< the mean correlation at its first multiples
  double outstanding = 0;  ///< of the frequency and its harmonics

  double strength() const { return alike * std::log(outstanding); }
};

double turns(const Likeness& likeness, double period) {
  return static_cast<double>(likeness.length()) / period;
}

/// Noise of as many frequencies has no peak as high as this, but for one case in fifty.
double significant(const Likeness& likeness) {
  return std::log(static_cast<double>(likeness.length()) / 2) + 4;
}

struct Top {
  double lag;
  double height;
};

/// The highest point of the covariance near a lag.
Top top_near(const Likeness& likeness, double lag, double reach, double window) {
  double best = std::max(1.0, std::floor(lag - reach));
  double height = likeness.at(best, window);
  for (double l = best + 1; l <= std::ceil(lag + reach) && l < likeness.longest(); ++l) {
    const double here = likeness.at(l, window);
    if (here > height) {
      height = here;
      best = l;
    }
  }
  const double before = likeness.at(best - 1, window), after = likeness.at(best + 1, window);
  const double bend = before - 2 * height + after;
  double offset = bend < 0 ? 0.5 * (before - after) / bend : 0;
  if (std::abs(offset) > 1) offset = 0;
  return {best + offset, height - 0.25 * (before - after) * offset};
}

/// The period told by ever larger multiples, as long as they are alike.
double by_multiples(const Likeness& likeness, double guess) {
  double period = top_near(likeness, guess, std::max(1.0, 0.03 * guess), guess).lag;
  const double longest = likeness.longest() - guess;
  for (int multiple = 2; multiple * period < longest; multiple *= 2) {
    const double reach = std::min(1 + 0.01 * multiple * period, 0.3 * period);
    const Top top = top_near(likeness, multiple * period, reach, period);
    if (top.height < 0.3 * likeness.at(0, period)) break;
    period = top.lag / multiple;
  }
  return period;
}

/// The period near this one at which all multiples together are most alike.
double refined(const Likeness& likeness, double period) {
  const double room = (likeness.longest() - period) / period;
  const int multiples = static_cast<int>(std::clamp(room, 1.0, 24.0));
  const auto alike = [&](double p) {
    double sum = 0;
    for (int j = 1; j <= multiples; ++j) sum += likeness.at(j * p, period);
    return sum;
  };
  const double step = period * std::min(0.02, 0.6 / period + 0.004) / 24;
  double best = period, height = alike(period);
  for (int i = -24; i <= 24; ++i) {
    const double here = alike(period + i * step);
    if (here > height) {
      height = here;
      best = period + i * step;
    }
  }
  // Most cycles have a whole number of samples: where that is as good, it is taken.
  const double whole = std::round(best);
  const bool near = std::abs(whole - best) <= step && whole > kShortest;
  return near && alike(whole) >= (1 - kAsGood) * height ? whole : best;
}

/// The mean correlation at the first multiples.
double alike_at(const Likeness& likeness, double period) {
  const double whole = likeness.at(0, period);
  double sum = 0;
  int count = 0;
  for (int j = 1; j <= 4 && j * period < likeness.longest() - period; ++j, ++count)
    sum += period < 16
               ? likeness.at(j * period, period)
               : top_near(likeness, j * period, std::max(0.5, 0.01 * j * period), period).height;
  return count ? sum / count / whole : 0;
}

/// What the period near a guess is worth; nothing: it does not convince.
std::optional<Candidate> judged(const Likeness& likeness, double guess) {
  const double period = by_multiples(likeness, guess);
  if (std::abs(period - guess) > std::max(1.0, 0.1 * guess)) return {};
  const double count = turns(likeness, period);
  const double whole = likeness.at(0, period), variance = likeness.variance();
  if (period < kShortest || count < 0.95 * kFewestTurns || whole < 1e-3 * variance) return {};
  const Candidate found{period, alike_at(likeness, period),
                        likeness.outstanding(period, kHarmonics)};
  // More than alike: the covariance is not to be trusted there.
  if (found.alike > 1.08 || found.alike < std::max(0.2, 1.25 / std::sqrt(count))) return {};
  const bool very_alike = found.alike * std::sqrt(count) > 5 && whole > 0.03 * variance;
  const double needed = count < 14 ? kPeak : very_alike ? 5 : significant(likeness);
  if (found.outstanding < needed) return {};
  return found;
}

void add(std::vector<Candidate>& found, const std::optional<Candidate>& candidate) {
  if (!candidate) return;
  const auto same = std::find_if(found.begin(), found.end(), [&](const Candidate& other) {
    return std::abs(other.period / candidate->period - 1) < 0.015;
  });
  if (same == found.end())
    found.push_back(*candidate);
  else if (candidate->alike > same->alike)
    *same = *candidate;
}

/// The periods at which the covariance has its highest tops: of short pulses the power is spread
/// over so many harmonics that none of the first stands out most.
std::vector<double> tops(const Likeness& likeness, double longest) {
  std::vector<std::pair<double, double>> heights;
  double period = 8;
  while (period <= longest) {
    heights.emplace_back(likeness.at(period, period) / likeness.at(0, period), period);
    period += std::max(1.0, 0.01 * period);
  }
  std::vector<std::pair<double, double>> found;
  for (size_t i = 1; i + 1 < heights.size(); ++i)
    if (heights[i] >= heights[i - 1] && heights[i].first > heights[i + 1].first)
      found.push_back(heights[i]);
  std::sort(found.rbegin(), found.rend());
  if (found.size() > kTops) found.resize(kTops);
  std::vector<double> periods;
  periods.reserve(found.size());
  for (const auto& top : found) periods.push_back(top.second);
  return periods;
}

/// The strongest first.
std::vector<Candidate> candidates(const Likeness& likeness) {
  const double longest = static_cast<double>(likeness.length()) / kFewestTurns;
  std::vector<Candidate> found;
  for (const double peak : likeness.peaks(kPeak, 3 * longest, kPeaks))
    for (int multiple = 1; multiple <= kMultiples && multiple * peak <= 1.02 * longest; ++multiple)
      add(found, judged(likeness, multiple * peak));
  for (const double top : tops(likeness, longest)) add(found, judged(likeness, top));
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.strength() > b.strength(); });
  return found;
}

/// How many times the short period the long one is; 0: not a whole number of times.
int times(double longer, double shorter) {
  const double ratio = longer / shorter;
  const double whole = std::round(ratio);
  return whole >= 2 && std::abs(ratio - whole) < std::max(0.04, 0.01 * whole)
             ? static_cast<int>(whole)
             : 0;
}

/// Short cycles are never alike at whole lags: that much less is asked of them.
double allowance(double period) {
  return period >= 24 ? 0.88 : std::max(0.5, 0.55 + 0.33 * (period - 4) / 20);
}

struct Between {
  double alike = 0;        ///< at multiples of the short period that are none of the long one
  double alike_whole = 0;  ///< at those that are
  bool known = false;
};

/// Whether `period` or only `times` times it comes again.
Between between(const Likeness& likeness, double period, int times) {
  const double window = std::min(times, 3) * period;
  const double whole = likeness.at(0, window);
  Between sums;
  int counts[2] = {};
  for (int j = 1; j <= 2 * times && j * period < likeness.longest() - window; ++j) {
    const double lag = j * period, reach = 0.01 * lag * (period < 16 ? 0.3 : 1);
    const double here = std::max({likeness.at(lag, window), likeness.at(lag - reach, window),
                                  likeness.at(lag + reach, window)}) /
                        whole;
    (j % times ? sums.alike : sums.alike_whole) += here;
    ++counts[j % times ? 0 : 1];
  }
  sums.known = counts[0] && counts[1];
  if (counts[0]) sums.alike /= counts[0];
  if (counts[1]) sums.alike_whole /= counts[1];
  return sums;
}

/// The shortest period of which the strongest candidate is a multiple without need.
Candidate fundamental(const Likeness& likeness, const std::vector<Candidate>& found) {
  Candidate result = found.front();
  for (const auto& other : found) {
    const int n = times(found.front().period, other.period);
    if (!n || other.period > 0.7 * result.period) continue;
    if (between(likeness, other.period, std::min(n, 12)).alike >=
        found.front().alike * allowance(other.period))
      result = other;
  }
  return result;
}

/// A cycle of its own, and no harmonic of a longer one.
bool is_own(const Likeness& likeness, const Candidate& shorter, const Candidate& longer) {
  if (shorter.alike < 0.4 || likeness.outstanding(shorter.period, 1) < significant(likeness))
    return false;
  const double allowed = allowance(shorter.period);
  for (const int n : {2, 3}) {
    if (3 * n * shorter.period > likeness.longest()) break;
    const auto found = between(likeness, shorter.period, n);
    if (found.known && found.alike < 0.8 * allowed * found.alike_whole) return false;
  }
  const int n = times(longer.period, shorter.period);
  return !n ||
         between(likeness, shorter.period, std::min(n, 12)).alike >= 0.5 * allowed * shorter.alike;
}

/// Whether a frequency is a multiple of that of a period, as far as the series can tell.
bool is_harmonic(const Likeness& likeness, double peak, double period) {
  const double frequency = 1 / peak, base = 1 / period;
  const double near = std::max(1, static_cast<int>(std::round(frequency / base))) * base;
  return std::abs(frequency - near) <=
         std::max(1 / static_cast<double>(likeness.length()), kSameFrequency * frequency);
}

/// The shorter one of two cycles, as a tide and the days are, of which `period` is only nearly a
/// multiple; nothing: it explains what stands out most.
std::optional<Candidate> of_two(const Likeness& likeness, const std::vector<Candidate>& found,
                                double period) {
  auto peaks = likeness.peaks(kOfItsOwn * significant(likeness), 2 * period, 2);
  if (peaks.size() < 2 || std::all_of(peaks.begin(), peaks.end(), [&](double peak) {
        return is_harmonic(likeness, peak, period);
      }))
    return {};
  const double shorter = std::min(peaks[0], peaks[1]), longer = std::max(peaks[0], peaks[1]);
  if (longer < kApart * shorter || is_harmonic(likeness, shorter, longer)) return {};
  const auto same = std::find_if(found.begin(), found.end(), [&](const Candidate& one) {
    return std::abs(one.period / shorter - 1) < 0.015;
  });
  if (same == found.end()) return {};
  return *same;
}

/// The shortest of the cycles that are there: it can be taken out without harm to longer ones.
Candidate first_of(const Likeness& likeness, const std::vector<Candidate>& found) {
  Candidate result = fundamental(likeness, found);
  for (const auto& other : found)
    if (other.period < result.period / 2.5 && is_own(likeness, other, result)) result = other;
  if (const auto shorter = of_two(likeness, found, result.period)) result = *shorter;
  result.period = refined(likeness, result.period);
  return result;
}

/// What is left of a cycle that was taken out looks like a weak cycle near it.
bool is_remainder(const Likeness& likeness, const Candidate& candidate,
                  const std::vector<Cycle>& taken) {
  if (candidate.alike < 0.3) return true;
  const bool is_strong = candidate.alike > 0.6 && likeness.outstanding(candidate.period, 1) >
                                                      kOfItsOwn * significant(likeness);
  return std::any_of(taken.begin(), taken.end(), [&](const Cycle& cycle) {
    const double longer = std::max(cycle.period, candidate.period);
    const double shorter = std::min(cycle.period, candidate.period);
    return longer < 3.2 * shorter &&
           (!is_strong || longer < kApart * shorter || times(longer, shorter) > 0);
  });
}

/// Too near a cycle to be told as another one, but there: the tide of the sun beside the moon's.
bool is_beside(const Candidate& candidate, double period) {
  const double ratio = candidate.period / period;
  return candidate.alike > kAlikeBeside && std::max(ratio, 1 / ratio) < kApart;
}

/// A few turns of a shorter cycle, where turns in between are no less alike than whole ones: what
/// is left of iterations that begin anew with each epoch.
bool is_mere_multiple(const Likeness& likeness, double longer, double shorter) {
  const double ratio = longer / shorter, n = std::round(ratio);
  if (n < 2 || n > kMultiples || std::abs(ratio - n) > 0.1) return false;
  const auto found = between(likeness, shorter, static_cast<int>(n));
  return found.known && found.alike >= found.alike_whole;
}

}  // namespace

std::vector<Cycle> find_cycles(std::span<const double> values) {
  std::vector<Cycle> cycles;
  Prepared rest = prepare(values);
  if (rest.values.empty()) return cycles;
  RealFourier fourier(Likeness::fourier_size(values.size()));
  const Likeness whole(rest, fourier);
  auto found = candidates(whole);
  std::optional<Likeness> again;
  double variance = 1;
  std::vector<double> taken, periods;  // the latter also with what is beside those
  while (!found.empty()) {
    const Candidate next = first_of(again ? *again : whole, found);
    const double left = remove_cycle(rest, next.period);
    cycles.push_back({next.period, std::clamp(next.alike, 0.0, 1.0), variance - left});
    taken.push_back(next.period);
    periods.push_back(next.period);
    variance = left;
    const double needed = kRemainder * significant(whole);
    if (cycles.size() == kMostCycles || left < kLittle || !whole.others_stand_out(taken, needed))
      break;
    again.emplace(rest, fourier);
    found = candidates(*again);
    std::erase_if(found, [&](const Candidate& one) {
      const double share = one.alike * again->at(0, one.period) / whole.at(0, one.period);
      if (one.outstanding < needed || share < 0.05) return true;
      if (!is_remainder(*again, one, cycles)) return false;
      if (is_beside(one, next.period)) periods.push_back(one.period);
      return true;
    });
  }
  std::erase_if(cycles, [&](const Cycle& one) {
    return std::any_of(periods.begin(), periods.end(), [&](double shorter) {
      return is_mere_multiple(whole, one.period, shorter);
    });
  });
  std::sort(cycles.begin(), cycles.end(),
            [](const Cycle& a, const Cycle& b) { return a.share > b.share; });
  return cycles;
}

}  // namespace assay::analysis
