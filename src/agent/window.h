// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <assay/base/time.h>

namespace assay::agent {

struct WindowSummary {
  double mean = 0;
  double p95 = 0;
  double max = 0;
};

/// The last samples of one value, for summaries over the last seconds and minutes. Its memory is
/// taken once; when samples come faster than it was made for, it reaches back less far.
class Window {
 public:
  explicit Window(size_t samples = kSamples);

  void add(Timestamp time, double value);
  /// Of the samples not older than `length`; nothing when there are none.
  std::optional<WindowSummary> over(Nanoseconds length, Timestamp now) const;
  std::optional<double> latest() const;
  /// How many samples are not older than `length`.
  size_t count(Nanoseconds length, Timestamp now) const;
  /// Of the samples not older than `length`, for q from 0 (the least) to 1.
  std::optional<double> quantile(double q, Nanoseconds length, Timestamp now) const;
  /// Makes place for more samples than before, for faster ones.
  void grow(size_t samples);

  /// Five minutes at one a second.
  static constexpr size_t kSamples = 300;

 private:
  struct Sample {
    uint32_t time_ms = 0;  ///< wraps around in seven weeks: only differences mean something
    float value = 0;
  };
  const Sample& back(size_t i) const {
    return ring_[(next_ + ring_.size() - 1 - i) % ring_.size()];
  }
  std::vector<float>& values(Nanoseconds length, Timestamp now) const;

  std::vector<Sample> ring_;
  size_t next_ = 0;
  size_t filled_ = 0;
  Timestamp last_{};
};

}  // namespace assay::agent
