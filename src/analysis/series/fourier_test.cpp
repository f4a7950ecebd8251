// SPDX-License-Identifier: Apache-2.0
#include "fourier.h"

#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

std::vector<double> noise(size_t length) {
  std::mt19937_64 engine(3);
  std::normal_distribution<> normal;
  std::vector<double> values(length);
  for (double& value : values) value = normal(engine);
  return values;
}

std::complex<double> by_definition(const std::vector<double>& values, size_t k, size_t size) {
  std::complex<double> sum;
  for (size_t i = 0; i < values.size(); ++i)
    sum += values[i] * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * k % size) /
                                           static_cast<double>(size));
  return sum;
}

TEST(RealFourier, is_the_transform_by_definition_with_every_mix_of_factors) {
  for (const size_t size : {4, 8, 12, 16, 20, 24, 32, 36, 60, 100, 120, 300, 360, 500, 720, 900}) {
    ASSERT_EQ(good_fourier_size(size), size);
    RealFourier fourier(size);
    for (const size_t length : {size, size - 1, size / 2 + 1}) {
      const auto values = noise(length);
      const auto& found = fourier.forward(values);
      ASSERT_EQ(found.size(), size / 2 + 1);
      for (size_t k = 0; k < found.size(); ++k)
        ASSERT_LT(std::abs(std::complex<double>(found[k]) - by_definition(values, k, size)), 1e-4)
            << size << ' ' << length << ' ' << k;
    }
  }
}

TEST(RealFourier, of_the_power_it_gives_the_products_at_every_distance) {
  constexpr size_t kLength = 100;
  const auto values = noise(kLength);
  RealFourier fourier(good_fourier_size(2 * kLength));
  fourier.forward(values);
  const auto products = fourier.products(kLength);
  ASSERT_EQ(products.size(), kLength);
  for (size_t lag = 0; lag < kLength; ++lag) {
    double sum = 0;
    for (size_t i = lag; i < kLength; ++i) sum += values[i] * values[i - lag];
    EXPECT_NEAR(products[lag], sum, 1e-3) << lag;
  }
}

TEST(RealFourier, keeps_its_digits_when_long) {
  const size_t size = good_fourier_size(160'000);
  EXPECT_EQ(size, 160'000);
  std::vector<double> wave(size);
  for (size_t i = 0; i < size; ++i)
    wave[i] =
        std::cos(2 * std::numbers::pi * 1001 * static_cast<double>(i) / static_cast<double>(size));
  const auto spectrum = RealFourier(size).forward(wave);
  EXPECT_NEAR(std::abs(spectrum[1001]) / (static_cast<double>(size) / 2), 1, 1e-5);
  for (size_t k = 0; k < spectrum.size(); ++k) {
    if (k == 1001) continue;
    ASSERT_LT(std::abs(spectrum[k]), 0.5) << k;
  }
}

TEST(RealFourier, good_sizes_have_no_large_factor) {
  EXPECT_EQ(good_fourier_size(1), 4);
  EXPECT_EQ(good_fourier_size(7), 8);
  EXPECT_EQ(good_fourier_size(13), 16);
  EXPECT_EQ(good_fourier_size(166'668), 172'800);
}

}  // namespace
}  // namespace assay::analysis
