// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fourier.h"
#include "prepared.h"

#include <vector>

namespace assay::analysis {

/// How alike a series is to itself some samples later, at every lag and without what changes
/// slowly; and how far each frequency stands out of its neighbourhood. Made once in O(n log n);
/// each question is answered in O(1).
class Likeness {
 public:
  /// `fourier` is only used meanwhile; its size must be fourier_size() of the series' length.
  Likeness(const Prepared& series, RealFourier& fourier);
  static size_t fourier_size(size_t length);

  size_t length() const { return length_; }
  double variance() const { return covariance_[0]; }
  /// The largest lag that can be asked for.
  double longest() const { return static_cast<double>(covariance_.size()) - 2; }
  /// The covariance at a lag, of the series less its moving mean over `window` samples.
  double at(double lag, double window) const;

  /// How many times the power of its neighbourhood a frequency or one of its first harmonics has;
  /// of noise this is exponentially distributed with mean 1.
  double outstanding(double period, int harmonics) const;
  /// Whether a frequency stands out so far that is no harmonic of these periods.
  bool others_stand_out(const std::vector<double>& periods, double at_least) const;
  /// The periods of the spectrum's peaks that stand out at least so far, the furthest first.
  std::vector<double> peaks(double at_least, double longest_period, size_t most) const;

 private:
  /// Of the sums of products that covariance_ holds; `pairs` empty: nothing is missing.
  void set_covariance(const std::vector<double>& pairs);
  double covariance_at(double lag) const;
  double integral(double lag) const;
  double double_integral(double lag) const;

  size_t length_ = 0;
  size_t transformed_ = 0;  ///< the length that was transformed: with zeros behind the series
  std::vector<double> covariance_;
  std::vector<double> sums_;      ///< of covariance_, up to and with each lag
  std::vector<double> integral_;  ///< of the integral, at each lag
  std::vector<float> power_;
  std::vector<float> outstanding_;
};

}  // namespace assay::analysis
