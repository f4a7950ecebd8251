// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include <assay/base/time.h>
#include <assay/probes/group.h>

namespace assay::agent {

/// What was used in the last seconds, from counters that only rise.
class RecentUse {
 public:
  void add(Timestamp time, const probes::GroupUse& use);
  /// How much it rose; NaN when that is not known.
  double risen(probes::Use use) const;
  /// Seconds between the readings that this is about.
  double elapsed() const;

 private:
  /// Those that findings are made from.
  static constexpr std::array kUsed = {
      probes::Use::cpu_seconds,           probes::Use::cpu_periods,
      probes::Use::cpu_throttled_periods, probes::Use::memory_failures,
      probes::Use::cpu_waiting_seconds,   probes::Use::memory_waiting_seconds,
      probes::Use::io_waiting_seconds};
  struct Reading {
    Timestamp time{};
    std::array<double, kUsed.size()> values{};
  };
  static constexpr size_t kReadings = 6;  ///< five seconds at one a second

  const Reading& newest() const { return ring_[(next_ + kReadings - 1) % kReadings]; }
  const Reading& oldest() const { return ring_[filled_ < kReadings ? 0 : next_]; }

  std::array<Reading, kReadings> ring_{};
  size_t next_ = 0;
  size_t filled_ = 0;
};

}  // namespace assay::agent
