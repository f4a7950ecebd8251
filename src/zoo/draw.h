// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay::zoo {

/// Random numbers that are the same with every compiler and library (SplitMix64).
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }
  float between(float low, float high) {
    // In double, where this product is exact: a machine that adds in the same step rounds alike.
    constexpr float kStep = 1.0F / 16777216.0F;  // a float has 24 bits
    const float share = static_cast<float>(next() >> 40U) * kStep;
    return static_cast<float>(double{low} + (double{high - low} * double{share}));
  }
  /// Of 0 .. count - 1.
  uint64_t below(uint64_t count) { return next() % count; }

 private:
  uint64_t state_;
};

}  // namespace assay::zoo
