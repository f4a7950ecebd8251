// SPDX-License-Identifier: Apache-2.0
#include "prepared.h"

#include "some_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::analysis {

namespace {

constexpr size_t kFewest = 16;
/// Of values beyond the outer fiftieths, what is further away than this share of the range between
/// them is an outlier.
constexpr double kOutlier = 0.75;
/// From so many values the quantiles are known well enough.
constexpr size_t kEnough = 10'000;
/// How far the middle is from the middle of the outer fiftieths, from -1 to 1, for values of which
/// the large ones hide all others.
constexpr double kSkewed = 0.6;

struct Quantiles {
  double low = 0;
  double middle = 0;
  double high = 0;

  double skew() const { return (low + high - 2 * middle) / (high - low); }
  Quantiles logarithms() const { return {std::log(low), std::log(middle), std::log(high)}; }
};

Quantiles quantiles_of(const Prepared& series) {
  std::vector<double> known;
  for (size_t i = 0; series.gaps() && i < series.values.size(); ++i)
    if (series.known[i]) known.push_back(series.values[i]);
  auto some = some_of(std::span<const double>(series.gaps() ? known : series.values), kEnough);
  const auto at = [&](double share) {
    const auto place = static_cast<ptrdiff_t>(share * static_cast<double>(some.size() - 1));
    std::nth_element(some.begin(), some.begin() + place, some.end());
    return some[static_cast<size_t>(place)];
  };
  return {at(0.02), at(0.5), at(0.98)};
}

/// Whether it is the logarithms that lie evenly around their middle.
bool are_magnitudes(const Quantiles& quantiles) {
  return quantiles.low > 0 && quantiles.skew() > kSkewed &&
         std::abs(quantiles.logarithms().skew()) < 0.5 * quantiles.skew();
}

void clip(Prepared& series, const Quantiles& usual) {
  if (usual.low == usual.high) return;  // mostly one value: what is rare here is all there is
  const double margin = kOutlier * (usual.high - usual.low);
  const double low = usual.low - margin, high = usual.high + margin;
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
      : period_(period),
        parts_(parts_of(period, series.count)),
        finer_(static_cast<double>(parts_) / period),
        places_(parts_),
        index_(parts_) {
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
    set_slopes();
  }

  /// How far into the turn the next value is; the first one is at 0.
  double next(double phase) const {
    const double following = phase + 1;
    return following < period_ ? following : following - period_;
  }
  /// On a straight line between the nearest two places.
  double at(double phase) const {
    const double here = place(phase);
    const size_t own = index_[part_of(here)];
    if (here >= places_[own].at) return places_[own].after(here);
    if (own > 0) return places_[own - 1].after(here);
    return places_.back().after(here + static_cast<double>(parts_));
  }

 private:
  struct Place {
    double at = 0;
    double mean = 0;
    double slope = 0;  ///< to the next one

    double after(double place) const { return mean + (place - at) * slope; }
  };
  double place(double phase) const { return phase * finer_; }
  size_t part_of(double at) const { return std::min(parts_ - 1, static_cast<size_t>(at)); }
  /// Of a whole period, most parts are never met.
  void keep_filled(const std::vector<double>& count) {
    size_t filled = 0;
    for (size_t part = 0; part < parts_; ++part) {
      if (count[part] > 0)
        places_[filled++] = {places_[part].at / count[part], places_[part].mean / count[part], 0};
      index_[part] = filled ? filled - 1 : 0;
    }
    places_.resize(filled);
  }
  void set_slopes() {
    for (size_t i = 0; i < places_.size(); ++i) {
      const Place& next = places_[(i + 1) % places_.size()];
      double distance = next.at - places_[i].at;
      if (distance <= 0) distance += static_cast<double>(parts_);
      places_[i].slope = (next.mean - places_[i].mean) / distance;
    }
  }

  const double period_;
  const size_t parts_;
  const double finer_;  ///< parts in a sample
  std::vector<Place> places_;
  std::vector<size_t> index_;  ///< of the place in a part, or the last one before it
};

}  // namespace

Prepared prepare(std::span<const double> values) {
  Prepared series;
  series.values.assign(values.begin(), values.end());
  series.known.resize(values.size());
  double largest = 0, least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < values.size(); ++i) {
    series.known[i] = std::isfinite(values[i]) ? 1 : 0;
    if (!series.known[i]) {
      series.values[i] = 0;
      continue;
    }
    ++series.count;
    largest = std::max(largest, std::abs(values[i]));
    least = std::min(least, values[i]);
  }
  if (series.count < kFewest || !(largest < 1e150)) return {};
  Quantiles usual = quantiles_of(series);
  if (least > 0 && are_magnitudes(usual)) {
    for (size_t i = 0; i < values.size(); ++i)
      if (series.known[i]) series.values[i] = std::log(values[i]);
    usual = usual.logarithms();
    largest = 1;
  }
  clip(series, usual);
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
