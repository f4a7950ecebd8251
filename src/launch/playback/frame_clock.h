// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>

namespace assay::launch {

/// Which frame is shown when. Every time is counted from the first frame's, so that lateness of one
/// frame never adds up to drift.
class FrameClock {
 public:
  using Clock = std::chrono::steady_clock;

  FrameClock(Clock::time_point start, double frames_per_second)
      : start_(start), frames_per_second_(frames_per_second) {}

  /// When the frame with this number, from 0, begins.
  Clock::time_point due(uint64_t frame) const {
    const double ns = std::ceil(static_cast<double>(frame) * 1e9 / frames_per_second_);
    return start_ + std::chrono::nanoseconds(static_cast<int64_t>(ns));
  }
  uint64_t frame_at(Clock::time_point time) const {
    if (time <= start_) return 0;
    const double passed = std::chrono::duration<double>(time - start_).count();
    auto frame = static_cast<uint64_t>(passed * frames_per_second_);
    // The product may be off in its last digit; due() decides.
    while (due(frame + 1) <= time) ++frame;
    while (frame > 0 && due(frame) > time) --frame;
    return frame;
  }

 private:
  Clock::time_point start_;
  double frames_per_second_;
};

}  // namespace assay::launch
