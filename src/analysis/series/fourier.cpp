// SPDX-License-Identifier: Apache-2.0
#include "fourier.h"

#include <numbers>

namespace assay::analysis {

namespace {
using Complex = std::complex<float>;
using Exact = std::complex<double>;

/// Each from the one before; every so often anew, so that errors do not add up.
std::vector<Complex> turns_of(size_t size) {
  constexpr size_t kAnew = 64;
  const double angle = -2 * std::numbers::pi / static_cast<double>(size);
  const Exact step = std::polar(1.0, angle);
  Exact last = 1;
  std::vector<Complex> turns(size / 2 + 1);
  for (size_t k = 0; k < turns.size(); ++k) {
    if (k % kAnew == 0)
      last = std::polar(1.0, angle * static_cast<double>(k));
    else
      last = {last.real() * step.real() - last.imag() * step.imag(),
              last.real() * step.imag() + last.imag() * step.real()};
    turns[k] = Complex(last);
  }
  return turns;
}

}  // namespace

RealFourier::RealFourier(size_t size)
    : size_(size),
      half_(size / 2, false),
      turns_(turns_of(size)),
      packed_(size / 2),
      mixed_(size / 2),
      result_(size / 2 + 1) {}

// Even and odd values are the parts of one complex series of half the length.
const std::vector<Complex>& RealFourier::forward(const std::vector<double>& values) {
  const size_t half = size_ / 2;
  for (size_t i = 0; i < half; ++i)
    packed_[i] = {static_cast<float>(values[2 * i]), static_cast<float>(values[2 * i + 1])};
  half_.transform(packed_.data(), mixed_.data());
  for (size_t k = 0; k <= half; ++k) {
    const Complex a = mixed_[k == half ? 0 : k];
    const Complex b = std::conj(mixed_[k == 0 ? 0 : half - k]);
    const Complex even = 0.5F * (a + b), twice_odd = a - b;
    // Written out: the standard product looks for infinities.
    const float re = 0.5F * twice_odd.imag(), im = -0.5F * twice_odd.real();
    result_[k] = {even.real() + turns_[k].real() * re - turns_[k].imag() * im,
                  even.imag() + turns_[k].real() * im + turns_[k].imag() * re};
  }
  return result_;
}

// A real symmetric spectrum is its own kind: transforming it forwards gives the series.
std::vector<double> RealFourier::symmetric(const std::vector<double>& spectrum) {
  whole_.resize(size_);
  for (size_t k = 0; k <= size_ / 2; ++k) whole_[k] = spectrum[k];
  for (size_t k = size_ / 2 + 1; k < size_; ++k) whole_[k] = spectrum[size_ - k];
  const auto& turned = forward(whole_);
  std::vector<double> values(turned.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(turned[i].real()) / static_cast<double>(size_);
  return values;
}

size_t good_fourier_size(size_t at_least) {
  for (size_t size = (at_least + 3) / 4 * 4;; size += 4) {
    size_t rest = size;
    for (const size_t factor : {2, 3, 5})
      while (rest % factor == 0) rest /= factor;
    if (rest == 1) return size;
  }
}

}  // namespace assay::analysis
