// SPDX-License-Identifier: Apache-2.0
#include "likeness.h"

#include "some_values.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace assay::analysis {

namespace {
using Complex = std::complex<float>;

/// Lags up to two thirds of the series: beyond, too few pairs are left.
size_t lags_of(size_t length) {
  return length * 2 / 3;
}
constexpr double kFewestPairs = 8;

/// How many values stand so many samples apart from another known one; nothing: all are known.
std::vector<double> pairs_of(const Prepared& series, size_t lags, RealFourier& fourier) {
  if (!series.gaps()) return {};
  fourier.forward(std::vector<double>(series.known.begin(), series.known.end()));
  return fourier.products(lags);
}

/// The power of the series seen through a Hann window, which in the spectrum is a mean with
/// neighbours: without it a trend's power would leak into all frequencies.
std::vector<float> windowed_power(const std::vector<Complex>& spectrum, size_t apart) {
  const size_t last = spectrum.size() - 1;
  const auto below = [&](size_t k) {
    return k >= apart ? spectrum[k - apart] : std::conj(spectrum[apart - k]);
  };
  const auto above = [&](size_t k) {
    return k + apart <= last ? spectrum[k + apart] : std::conj(spectrum[2 * last - k - apart]);
  };
  const auto seen = [](Complex left, Complex here, Complex right) {
    return std::norm(0.5F * here - 0.25F * (left + right));
  };
  std::vector<float> power(spectrum.size());
  for (size_t k = 0; k < apart; ++k) {
    power[k] = seen(below(k), spectrum[k], above(k));
    power[last - k] = seen(below(last - k), spectrum[last - k], above(last - k));
  }
  for (size_t k = apart; k + apart <= last; ++k)
    power[k] = seen(spectrum[k - apart], spectrum[k], spectrum[k + apart]);
  return power;
}

/// A median does not need more values than these.
constexpr size_t kEnough = 4096;

struct Level {
  double at;     ///< a frequency
  double power;  ///< the mean of noise that would have this neighbourhood's median
};

/// The neighbourhoods' levels, at frequencies a third of an octave apart.
std::vector<Level> levels_of(const std::vector<float>& power, size_t fewest) {
  const double step = std::cbrt(2.0), reach = std::sqrt(2.0);
  const size_t last = power.size() - 1;
  std::vector<Level> levels;
  double at = 2;
  while (at < static_cast<double>(last)) {
    size_t from = std::max<size_t>(2, static_cast<size_t>(at / reach));
    size_t to = std::min(last, static_cast<size_t>(at * reach) + 1);
    if (to - from < fewest) {
      from = from > fewest / 2 + 2 ? from - fewest / 2 : 2;
      to = std::min(last, from + fewest);
    }
    auto near = some_of(std::span<const float>(power).subspan(from, to - from), kEnough);
    const auto middle = near.begin() + static_cast<ptrdiff_t>(near.size() / 2);
    std::nth_element(near.begin(), middle, near.end());
    levels.push_back({at, *middle / std::numbers::ln2 + 1e-12});
    at *= step;
  }
  return levels;
}

std::vector<float> outstanding_of(const std::vector<float>& power, size_t fewest) {
  std::vector<float> found(power.size());
  const auto levels = levels_of(power, fewest);
  if (levels.empty()) return found;
  size_t left = 0;
  for (size_t k = 2; k < power.size(); ++k) {
    const auto at = static_cast<double>(k);
    while (left + 1 < levels.size() && levels[left + 1].at <= at) ++left;
    double level = levels[left].power;
    if (left + 1 < levels.size()) {
      const double share = (at - levels[left].at) / (levels[left + 1].at - levels[left].at);
      level += share * (levels[left + 1].power - level);
    }
    found[k] = static_cast<float>(power[k] / level);
  }
  return found;
}

/// Where between its neighbours the top of a peak is, from -1 to 1.
double top_of(double before, double here, double after) {
  const double bend = before - 2 * here + after;
  const double offset = bend < 0 ? 0.5 * (before - after) / bend : 0;
  return std::abs(offset) <= 1 ? offset : 0;
}

}  // namespace

size_t Likeness::fourier_size(size_t length) {
  return good_fourier_size(length + lags_of(length) + 2);
}

Likeness::Likeness(const Prepared& series, RealFourier& fourier)
    : length_(series.values.size()), transformed_(fourier.size()) {
  const auto& spectrum = fourier.forward(series.values);
  const double longer = static_cast<double>(transformed_) / static_cast<double>(length_);
  power_ = windowed_power(spectrum, static_cast<size_t>(std::lround(longer)));
  outstanding_ = outstanding_of(power_, static_cast<size_t>(8 * longer));

  const size_t lags = std::min(lags_of(length_) + 1, spectrum.size());
  covariance_ = fourier.products(lags);
  set_covariance(pairs_of(series, lags, fourier));
}

void Likeness::set_covariance(const std::vector<double>& pairs) {
  const size_t lags = covariance_.size();
  sums_.resize(lags);
  double sum = 0;
  for (size_t lag = 0; lag < lags; ++lag) {
    const double count = pairs.empty() ? static_cast<double>(length_ - lag) : pairs[lag];
    covariance_[lag] = count >= kFewestPairs ? covariance_[lag] / count : 0;
    sums_[lag] = sum += covariance_[lag];
  }
  integral_.resize(lags);
  double last = 0;
  for (size_t lag = 1; lag < lags; ++lag) {
    const double here = sums_[lag - 1] + 0.5 * (covariance_[lag] - covariance_[0]);
    integral_[lag] = integral_[lag - 1] + 0.5 * (last + here);
    last = here;
  }
}

/// Between whole lags by a windowed sinc: a straight line would flatten short cycles.
double Likeness::covariance_at(double lag) const {
  lag = std::abs(lag);
  const auto whole = static_cast<size_t>(lag);
  if (whole + 1 >= covariance_.size()) return covariance_.back();
  const double beyond = lag - static_cast<double>(whole);
  if (beyond < 1e-9) return covariance_[whole];
  if (whole < 3 || whole + 4 >= covariance_.size())
    return (1 - beyond) * covariance_[whole] + beyond * covariance_[whole + 1];
  // One sine serves all six: neighbours differ in sign, their windows by sixths of a turn.
  constexpr double kSixth = 0.8660254037844386;
  constexpr double kCosines[] = {-0.5, 0.5, 1, 0.5, -0.5, -1};
  constexpr double kSines[] = {-kSixth, -kSixth, 0, kSixth, kSixth, 0};
  const double third = std::numbers::pi * beyond / 3;
  const double sine = std::sin(third), cosine = std::cos(third);
  double sum = 0, weights = 0;
  for (int j = 0; j < 6; ++j) {
    const double distance = beyond + 2 - j;
    const double window = sine * kCosines[j] - cosine * kSines[j];
    const double weight = (j % 2 ? -window : window) / (distance * distance);
    sum += weight * covariance_[whole + static_cast<size_t>(j) - 2];
    weights += weight;
  }
  return sum / weights;
}

/// From 0 to a lag, taking each covariance as constant around its lag.
double Likeness::integral(double lag) const {
  const double from_half = std::abs(lag) + 0.5;
  const size_t whole = std::min(static_cast<size_t>(from_half), covariance_.size() - 1);
  const double before = whole > 0 ? sums_[whole - 1] : 0;
  const double sum =
      before + (from_half - static_cast<double>(whole)) * covariance_[whole] - 0.5 * covariance_[0];
  return lag < 0 ? -sum : sum;
}

double Likeness::double_integral(double lag) const {
  lag = std::abs(lag);
  const size_t whole = std::min(static_cast<size_t>(lag), integral_.size() - 2);
  const double beyond = lag - static_cast<double>(whole);
  return integral_[whole] + beyond * integral(static_cast<double>(whole)) +
         0.5 * beyond * beyond * covariance_[whole];
}

// The moving mean is a convolution of the series with a box, so of the covariance with a triangle;
// both follow from integrals.
double Likeness::at(double lag, double window) const {
  const double box = (integral(lag + window / 2) - integral(lag - window / 2)) / window;
  const double triangle =
      (double_integral(lag + window) - 2 * double_integral(lag) + double_integral(lag - window)) /
      (window * window);
  return covariance_at(lag) - 2 * box + triangle;
}

double Likeness::outstanding(double period, int harmonics) const {
  double most = 0;
  for (int harmonic = 1; harmonic <= harmonics; ++harmonic) {
    const double at = harmonic * static_cast<double>(transformed_) / period;
    const double reach = std::max(1.0, 0.01 * at);
    const auto from = static_cast<size_t>(std::max(2.0, std::round(at) - std::floor(reach)));
    const auto to = static_cast<size_t>(std::round(at) + std::floor(reach));
    for (size_t k = from; k <= to && k < outstanding_.size(); ++k)
      most = std::max<double>(most, outstanding_[k]);
  }
  return most;
}

bool Likeness::others_stand_out(const std::vector<double>& periods, double at_least) const {
  const double width = 3 * static_cast<double>(transformed_) / static_cast<double>(length_);
  for (size_t k = 3; k < outstanding_.size(); ++k) {
    if (outstanding_[k] < at_least) continue;
    const bool harmonic = std::any_of(periods.begin(), periods.end(), [&](double period) {
      const double base = static_cast<double>(transformed_) / period;
      const auto at = static_cast<double>(k);
      return std::abs(at - base * std::round(at / base)) <= width;
    });
    if (!harmonic) return true;
  }
  return false;
}

std::vector<double> Likeness::peaks(double at_least, double longest_period, size_t most) const {
  std::vector<std::pair<double, double>> found;
  for (size_t k = 3; k + 1 < power_.size(); ++k) {
    if (outstanding_[k] < at_least || power_[k] < power_[k - 1] || power_[k] <= power_[k + 1])
      continue;
    const auto height = [&](size_t i) { return std::log(static_cast<double>(power_[i]) + 1e-300); };
    const double at = static_cast<double>(k) + top_of(height(k - 1), height(k), height(k + 1));
    const double period = static_cast<double>(transformed_) / at;
    if (period <= longest_period) found.emplace_back(outstanding_[k], period);
  }
  const size_t kept = std::min(most, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<ptrdiff_t>(kept), found.end(),
                    std::greater<>());
  std::vector<double> periods(kept);
  for (size_t i = 0; i < kept; ++i) periods[i] = found[i].second;
  return periods;
}

}  // namespace assay::analysis
