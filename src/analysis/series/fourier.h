// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace assay::analysis {

/// The discrete Fourier transform of real values. Not thread-safe.
class RealFourier {
 public:
  /// `size` must come from good_fourier_size().
  explicit RealFourier(size_t size);
  size_t size() const { return size_; }
  /// Of up to `size` values, with zeros behind; gives `size / 2 + 1`, which are good until the next
  /// call.
  const std::vector<std::complex<float>>& forward(std::span<const double> values);
  /// Of the values that forward() was given last, once: the sums of products of those 0, 1, 2, ...
  /// samples apart, `size / 2 + 1` at most. The values stand in a ring: there must be as many zeros
  /// behind them as samples lie between those.
  std::vector<double> products(size_t count);

 private:
  void turn();

  const size_t size_;
  const std::complex<float> half_turn_;     ///< between two of turns_
  std::vector<std::complex<float>> turns_;  ///< exp(-4 pi i k / size)
  std::vector<std::complex<float>> values_, spectrum_;
};

/// The next size that is quick to transform: a multiple of four without factors above five.
size_t good_fourier_size(size_t at_least);

}  // namespace assay::analysis
