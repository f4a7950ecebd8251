// SPDX-License-Identifier: Apache-2.0
#include "decide/level_history.h"

#include <algorithm>

namespace assay::agent {
namespace {

constexpr Nanoseconds kShortest = std::chrono::minutes(2);
constexpr double kLeastShare = 0.1;
constexpr double kRising = 0.8;   ///< of the steps
constexpr double kFalling = 0.2;  ///< of what has risen, at most
constexpr size_t kFewest = 16;

}  // namespace

void LevelHistory::add(Timestamp time, double level) {
  if (filled_ > 0) {
    Point& last = points_[filled_ - 1];
    if (time - last.time < step_) {
      last.floor = std::min(last.floor, level);
      return;
    }
  }
  if (filled_ == kPoints) halve();
  points_[filled_++] = {time, level};
}

void LevelHistory::halve() {
  for (size_t i = 0; i < kPoints / 2; ++i) {
    const Point& first = points_[2 * i];
    points_[i] = {first.time, std::min(first.floor, points_[2 * i + 1].floor)};
  }
  filled_ = kPoints / 2;
  step_ *= 2;
}

std::optional<LevelHistory::Growth> LevelHistory::growth() const {
  const size_t begin = filled_ / 4;  // an app takes what it needs when it starts
  if (filled_ - begin < kFewest) return std::nullopt;
  const Point& first = points_[begin];
  const Point& last = points_[filled_ - 1];
  const Point& middle = points_[(begin + filled_ - 1) / 2];
  const double grown = last.floor - first.floor;
  if (last.time - first.time < kShortest) return std::nullopt;
  if (grown < std::max(kLeastGrowth, kLeastShare * first.floor)) return std::nullopt;
  size_t rising = 0;
  double fallen = 0;
  for (size_t i = begin + 1; i < filled_; ++i) {
    const double change = points_[i].floor - points_[i - 1].floor;
    if (change > 0) ++rising;
    fallen += std::max(0.0, -change);
  }
  const auto steps = static_cast<double>(filled_ - 1 - begin);
  // Its second half, too, has to bring a good part of it.
  const bool goes_on = last.floor - middle.floor >= grown / 4;
  const bool steady =
      static_cast<double>(rising) >= kRising * steps && fallen <= kFalling * (grown + fallen);
  if (!steady || !goes_on) return std::nullopt;
  const Nanoseconds over = last.time - first.time;
  return Growth{first.floor, last.floor, grown / seconds(over), over};
}

}  // namespace assay::agent
