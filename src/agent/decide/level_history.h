// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include <assay/base/time.h>

namespace assay::agent {

/// The floor of a level over a whole life in bounded memory: when all places are taken, each two
/// become one. So minutes of a young app are told as closely as days of an old one.
class LevelHistory {
 public:
  struct Growth {
    double first = 0;
    double last = 0;
    double per_second = 0;
    Nanoseconds over{0};
  };

  void add(Timestamp time, double level);
  /// A floor that rises through all of the life but its beginning, nearly without pause, by a tenth
  /// and by so many bytes at least: what settles, swings or jumps once does not grow.
  std::optional<Growth> growth() const;

  static constexpr double kLeastGrowth = 8e6;

 private:
  struct Point {
    Timestamp time{};
    double floor = 0;
  };
  static constexpr size_t kPoints = 64;

  void halve();

  std::array<Point, kPoints> points_{};
  size_t filled_ = 0;
  Nanoseconds step_ = std::chrono::seconds(5);
};

}  // namespace assay::agent
