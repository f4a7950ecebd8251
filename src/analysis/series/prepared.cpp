// SPDX-License-Identifier: Apache-2.0
#include "prepared.h"

#include <algorithm>
#include <cmath>

namespace assay::analysis {

namespace {

constexpr size_t kFewest = 16;
/// Of values beyond the outer fiftieths, what is further away than this share of the range between
/// them is an outlier.
constexpr double kOutlier = 0.75;

double quantile_of(std::vector<double>& values, double share) {
  const auto at = static_cast<ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<size_t>(at)];
}

void clip_outliers(Prepared& series) {
  std::vector<double> sorted;
  sorted.reserve(series.count);
  for (size_t i = 0; i < series.values.size(); ++i)
    if (series.known[i]) sorted.push_back(series.values[i]);
  double low = quantile_of(sorted, 0.02);
  double high = quantile_of(sorted, 0.98);
  if (low == high) return;  // mostly one value: what is rare here is all there is
  const double margin = kOutlier * (high - low);
  low -= margin;
  high += margin;
  for (double& value : series.values) value = std::clamp(value, low, high);
}

void remove_trend(Prepared& series) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (size_t i = 0; i < series.values.size(); ++i) {
    if (!series.known[i]) continue;
    const auto at = static_cast<double>(i);
    x += at;
    y += series.values[i];
    xx += at * at;
    xy += at * series.values[i];
  }
  const auto n = static_cast<double>(series.count);
  const double spread = n * xx - x * x;
  const double slope = spread > 0 ? (n * xy - x * y) / spread : 0;
  const double base = (y - slope * x) / n;
  for (size_t i = 0; i < series.values.size(); ++i)
    series.values[i] =
        series.known[i] ? series.values[i] - base - slope * static_cast<double>(i) : 0;
}

double variance(const Prepared& series) {
  double sum = 0;
  for (const double value : series.values) sum += value * value;
  return sum / static_cast<double>(series.count);
}

/// How many parts a turn is cut into: fine enough for its shape, with several values in each.
size_t parts_of(double period, size_t count) {
  const double wanted = std::min(4 * period, std::max(period, 64.0));
  return static_cast<size_t>(
      std::clamp(wanted, 8.0, std::max(8.0, static_cast<double>(count) / 6)));
}

/// The shape of one turn: what the values around some places of it are on average.
class Turn {
 public:
  Turn(const Prepared& series, double period)
      : period_(period), parts_(parts_of(period, series.count)), places_(parts_), index_(parts_) {
    std::vector<double> count(parts_);
    double phase = 0;
    for (size_t i = 0; i < series.values.size(); ++i, phase = next(phase)) {
      if (!series.known[i]) continue;
      const double at = place(phase);
      const size_t part = part_of(at);
      places_[part].at += at;
      places_[part].mean += series.values[i];
      ++count[part];
    }
    keep_filled(count);
  }

  /// How far into the turn the next value is; the first one is at 0.
  double next(double phase) const {
    const double following = phase + 1;
    return following < period_ ? following : following - period_;
  }
  /// On a straight line between the nearest two places.
  double at(double phase) const {
    const double here = place(phase);
    const size_t own = index_[part_of(here)], count = places_.size();
    const size_t right = here < places_[own].at ? own : (own + 1) % count;
    const size_t left = (right + count - 1) % count;
    const auto turn = static_cast<double>(parts_);
    double beyond = here - places_[left].at, distance = places_[right].at - places_[left].at;
    if (beyond < 0) beyond += turn;
    if (distance <= 0) distance += turn;
    return places_[left].mean + beyond / distance * (places_[right].mean - places_[left].mean);
  }

 private:
  struct Place {
    double at = 0;
    double mean = 0;
  };
  double place(double phase) const { return phase / period_ * static_cast<double>(parts_); }
  size_t part_of(double at) const { return std::min(parts_ - 1, static_cast<size_t>(at)); }
  /// Of a whole period, most parts are never met.
  void keep_filled(const std::vector<double>& count) {
    size_t filled = 0;
    for (size_t part = 0; part < parts_; ++part) {
      if (count[part] > 0)
        places_[filled++] = {places_[part].at / count[part], places_[part].mean / count[part]};
      index_[part] = filled ? filled - 1 : 0;
    }
    places_.resize(filled);
  }

  const double period_;
  const size_t parts_;
  std::vector<Place> places_;
  std::vector<size_t> index_;  ///< of the place in a part, or the last one before it
};

}  // namespace

Prepared prepare(std::span<const double> values) {
  Prepared series;
  series.values.assign(values.begin(), values.end());
  series.known.resize(values.size());
  double largest = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    series.known[i] = std::isfinite(values[i]);
    if (!series.known[i]) {
      series.values[i] = 0;
      continue;
    }
    ++series.count;
    largest = std::max(largest, std::abs(values[i]));
  }
  if (series.count < kFewest || !(largest < 1e150)) return {};
  clip_outliers(series);
  remove_trend(series);
  const double deviation = std::sqrt(variance(series));
  if (!(deviation > 1e-9 * largest)) return {};
  for (double& value : series.values) value /= deviation;
  return series;
}

double remove_cycle(Prepared& series, double period) {
  const Turn turn(series, period);
  double phase = 0;
  for (size_t i = 0; i < series.values.size(); ++i, phase = turn.next(phase))
    if (series.known[i]) series.values[i] -= turn.at(phase);
  return variance(series);
}

}  // namespace assay::analysis
