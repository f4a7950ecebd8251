// SPDX-License-Identifier: Apache-2.0
#include "fourier.h"

#include <algorithm>
#include <array>
#include <numbers>

namespace assay::analysis {

namespace {
using Complex = std::complex<float>;
using Exact = std::complex<double>;

/// Written out: the standard product looks for infinities.
template <typename T>
std::complex<T> product(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Each from the one before; every so often anew, so that errors do not add up.
std::vector<Complex> turns_of(size_t size) {
  constexpr size_t kAnew = 64;
  const double angle = -2 * std::numbers::pi / static_cast<double>(size);
  const Exact step = std::polar(1.0, angle);
  Exact last = 1;
  std::vector<Complex> turns(size);
  for (size_t k = 0; k < turns.size(); ++k) {
    last = k % kAnew ? product(last, step) : std::polar(1.0, angle * static_cast<double>(k));
    turns[k] = Complex(last);
  }
  return turns;
}

/// A quarter of a turn back.
Complex quarter(Complex a) {
  return {a.imag(), -a.real()};
}

/// The transform of so few values.
template <size_t kRadix>
std::array<Complex, kRadix> few(const std::array<Complex, kRadix>& a) {
  if constexpr (kRadix == 2) {
    return {a[0] + a[1], a[0] - a[1]};
  } else if constexpr (kRadix == 3) {
    const Complex sum = a[1] + a[2], middle = a[0] - 0.5F * sum;
    const Complex side = 0.8660254F * quarter(a[1] - a[2]);
    return {a[0] + sum, middle + side, middle - side};
  } else if constexpr (kRadix == 4) {
    const Complex even = a[0] + a[2], odd = a[1] + a[3];
    const Complex apart = a[0] - a[2], side = quarter(a[1] - a[3]);
    return {even + odd, apart + side, even - odd, apart - side};
  } else {
    constexpr float kCos1 = 0.30901699F, kCos2 = -0.80901699F;
    constexpr float kSin1 = 0.95105652F, kSin2 = 0.58778525F;
    const Complex near = a[1] + a[4], far = a[2] + a[3];
    const Complex near_apart = quarter(a[1] - a[4]), far_apart = quarter(a[2] - a[3]);
    const Complex middle1 = a[0] + kCos1 * near + kCos2 * far;
    const Complex middle2 = a[0] + kCos2 * near + kCos1 * far;
    const Complex side1 = kSin1 * near_apart + kSin2 * far_apart;
    const Complex side2 = kSin2 * near_apart - kSin1 * far_apart;
    return {a[0] + near + far, middle1 + side1, middle2 + side2, middle2 - side2, middle1 - side1};
  }
}

/// One step of a transform in which `apart` series of `length` values lie side by side: it leaves
/// more of shorter ones, in the order that the next step needs (Stockham's way).
template <size_t kRadix>
void step(const Complex* from, Complex* to, size_t length, size_t apart,
          const std::vector<Complex>& turns) {
  const size_t shorter = length / kRadix;
  for (size_t p = 0; p < shorter; ++p) {
    std::array<Complex, kRadix> turn;
    for (size_t k = 1; k < kRadix; ++k) turn[k] = turns[apart * p * k];
    const Complex* in = from + apart * p;
    Complex* out = to + apart * p * kRadix;
    for (size_t q = 0; q < apart; ++q) {
      std::array<Complex, kRadix> values;
      for (size_t k = 0; k < kRadix; ++k) values[k] = in[q + apart * shorter * k];
      values = few(values);
      out[q] = values[0];
      for (size_t k = 1; k < kRadix; ++k) out[q + apart * k] = product(values[k], turn[k]);
    }
  }
}

/// Of the first `size` of `here`, which holds the result then.
void transform(std::vector<Complex>& here, std::vector<Complex>& there, size_t size,
               const std::vector<Complex>& turns) {
  size_t apart = 1;
  const auto all = [&](auto radix) {
    constexpr size_t kRadix = decltype(radix)::value;
    for (size_t left = size / apart; left % kRadix == 0; left /= kRadix, apart *= kRadix) {
      step<kRadix>(here.data(), there.data(), left, apart, turns);
      here.swap(there);
    }
  };
  all(std::integral_constant<size_t, 4>());
  all(std::integral_constant<size_t, 2>());
  all(std::integral_constant<size_t, 3>());
  all(std::integral_constant<size_t, 5>());
}

}  // namespace

RealFourier::RealFourier(size_t size)
    : size_(size),
      half_turn_(std::polar(1.0, -2 * std::numbers::pi / static_cast<double>(size))),
      turns_(turns_of(size / 2)),
      values_(size / 2 + 1),
      spectrum_(size / 2 + 1) {}

// Even and odd values are the parts of one complex series of half the length.
void RealFourier::turn() {
  const size_t half = size_ / 2;
  transform(values_, spectrum_, half, turns_);
  for (size_t k = 0; k <= half / 2; ++k) {
    const Complex a = values_[k], b = std::conj(values_[k == 0 ? 0 : half - k]);
    const Complex even = 0.5F * (a + b), odd = 0.5F * quarter(a - b);
    const Complex turned = product(k % 2 ? product(turns_[k / 2], half_turn_) : turns_[k / 2], odd);
    spectrum_[k] = even + turned;
    spectrum_[half - k] = std::conj(even - turned);
  }
}

const std::vector<Complex>& RealFourier::forward(std::span<const double> values) {
  const auto at = [&](size_t i) { return i < values.size() ? static_cast<float>(values[i]) : 0; };
  const size_t half = size_ / 2, whole = std::min(values.size(), size_) / 2;
  for (size_t i = 0; i < whole; ++i)
    values_[i] = {static_cast<float>(values[2 * i]), static_cast<float>(values[2 * i + 1])};
  for (size_t i = whole; i < half; ++i) values_[i] = {at(2 * i), at(2 * i + 1)};
  turn();
  return spectrum_;
}

// The power is a real symmetric spectrum: transforming it forwards gives the series.
std::vector<double> RealFourier::products(size_t count) {
  const size_t half = size_ / 2;
  for (size_t i = 0; 2 * i < half; ++i) {
    const float second = std::norm(spectrum_[2 * i + 1]);
    values_[i] = {std::norm(spectrum_[2 * i]), second};
    values_[half - 1 - i] = {std::norm(spectrum_[2 * i + 2]), second};
  }
  turn();
  std::vector<double> sums(count);
  for (size_t lag = 0; lag < count; ++lag)
    sums[lag] = static_cast<double>(spectrum_[lag].real()) / static_cast<double>(size_);
  return sums;
}

size_t good_fourier_size(size_t at_least) {
  for (size_t size = std::max<size_t>(1, (at_least + 3) / 4) * 4;; size += 4) {
    size_t rest = size;
    for (const size_t factor : {2, 3, 5})
      while (rest % factor == 0) rest /= factor;
    if (rest == 1) return size;
  }
}

}  // namespace assay::analysis
