// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

/// The bytes that say how a column is written, shared by its writer and its reader.
namespace assay::store {

/// How integers are predicted; what is kept is the difference.
enum class Prediction : uint8_t {
  line = 0,   ///< from the first value in equal steps
  step = 1,   ///< from the value before, plus a step
  trend = 2,  ///< from the two values before
};
constexpr uint8_t kPredictionMask = 0x03;
/// Every prediction was right: no differences follow.
constexpr uint8_t kExact = 0x04;
/// Differences as byte planes (all lowest bytes, then all second ones, ...), not as varints.
constexpr uint8_t kPlanes = 0x08;
/// The bytes that follow are packed with zstd.
constexpr uint8_t kPacked = 0x10;

/// How a column of doubles begins.
enum class DoubleForm : uint8_t {
  constant = 0,  ///< one value
  scaled = 1,    ///< integers and a power of ten
  words = 2,     ///< the bits
};
constexpr uint8_t kDoubleFormMask = 0x03;
/// For words: each is xor-ed with the one before.
constexpr uint8_t kXor = 0x04;
/// For scaled: the integer is multiplied with 10^-k instead of divided by 10^k.
constexpr uint8_t kTimes = 0x04;
/// For scaled: a second column of integers corrects the last bits.
constexpr uint8_t kCorrected = 0x08;

constexpr size_t kMaxDigits = 12;
constexpr std::array<double, kMaxDigits + 1> kPowers = {1e0, 1e1, 1e2, 1e3,  1e4,  1e5, 1e6,
                                                        1e7, 1e8, 1e9, 1e10, 1e11, 1e12};
constexpr std::array<double, kMaxDigits + 1> kInverses = {
    1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12};

/// A scaled integer as the double it stands for, before any correction.
inline double unscaled(int64_t integer, size_t digits, bool times) {
  const auto value = static_cast<double>(integer);
  return times ? value * kInverses[digits] : value / kPowers[digits];
}

inline uint64_t bits_of(double value) {
  return std::bit_cast<uint64_t>(value);
}

}  // namespace assay::store
