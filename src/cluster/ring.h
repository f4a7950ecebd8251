// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace assay::cluster {

/// The last values of something, in 2 bytes each, to 0.4 %: tens of thousands of pods have eight
/// of these.
class Ring {
 public:
  static constexpr size_t kLength = 120;

  void add(double value) {
    packed_[next_] = packed(static_cast<float>(value));
    next_ = static_cast<uint16_t>((next_ + 1U) % kLength);
    if (size_ < kLength) ++size_;
  }
  size_t size() const { return size_; }
  /// Oldest first; NaN where nothing was known.
  std::vector<double> values() const {
    std::vector<double> all(size_);
    for (size_t i = 0; i < size_; ++i)
      all[i] = unpacked(packed_[(next_ + kLength - size_ + i) % kLength]);
    return all;
  }

 private:
  static uint16_t packed(float value) {
    if (std::isnan(value)) return 0x7fc0;
    const auto bits = std::bit_cast<uint32_t>(value);
    return static_cast<uint16_t>((bits + 0x8000U) >> 16U);  // the upper half, rounded
  }
  static double unpacked(uint16_t half) {
    return std::bit_cast<float>(static_cast<uint32_t>(half) << 16U);
  }

  std::array<uint16_t, kLength> packed_{};
  uint16_t next_ = 0;
  uint16_t size_ = 0;
};

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace assay::cluster
