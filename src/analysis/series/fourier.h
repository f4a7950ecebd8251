// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstddef>
#include <kissfft/kissfft.hh>
#include <vector>

namespace assay::analysis {

/// The discrete Fourier transform of real values. Not thread-safe.
class RealFourier {
 public:
  /// `size` must be a multiple of four; see good_fourier_size().
  explicit RealFourier(size_t size);
  size_t size() const { return size_; }
  /// `values` has `size` entries; gives `size / 2 + 1`, which are good until the next call.
  const std::vector<std::complex<float>>& forward(const std::vector<double>& values);
  /// The values of a spectrum without imaginary parts, which is that of a symmetric series: only
  /// the first `size / 2 + 1` are given.
  std::vector<double> symmetric(const std::vector<double>& spectrum);

 private:
  const size_t size_;
  kissfft<float> half_;
  std::vector<std::complex<float>> turns_;  ///< exp(-2 pi i k / size)
  std::vector<std::complex<float>> packed_, mixed_, result_;
  std::vector<double> whole_;
};

/// The next size that is quick to transform.
size_t good_fourier_size(size_t at_least);

}  // namespace assay::analysis
