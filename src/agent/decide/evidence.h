// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <assay/base/time.h>
#include <assay/samples/records.h>

namespace assay::agent {

/// Stands for what is not known, never for zero.
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// A goal and how the app did in the last seconds.
struct GoalState {
  Goal goal;
  bool reported = true;  ///< is about what the app reports, not about what it uses
  std::optional<double> value = {};
  Nanoseconds over{0};  ///< how far back the value reaches

  std::optional<bool> met() const;
  /// How many times better than asked for: 3 is three times the frames, or a third of the time.
  /// Below 1 it is missed. Nothing while the value is not known.
  std::optional<double> surplus() const;
};

/// Memory that only grows.
struct Leak {
  double bytes_per_second = 0;
  std::optional<Nanoseconds> full_in = {};  ///< until its limit is reached, if it has one
};

/// What is known about one app when it is judged. Shares are of the last seconds.
struct Evidence {
  std::vector<GoalState> goals;
  Nanoseconds running{0};
  Nanoseconds over{0};                     ///< how far back shares and cores reach
  std::optional<Nanoseconds> silent = {};  ///< since it last reported; nothing: it never has

  double cores = kUnknown;  ///< in use
  std::optional<double> cores_limit = {};
  double throttled_share = kUnknown;  ///< of its periods
  double cpu_wait_share = kUnknown;   ///< of the time, in which some of it waited for a core
  double memory = kUnknown;           ///< in use, without file cache
  double memory_peak = kUnknown;
  std::optional<double> memory_limit = {};
  double memory_limit_hits = kUnknown;  ///< in the last seconds
  double memory_wait_share = kUnknown;
  double disk_wait_share = kUnknown;
  std::optional<Leak> leak = {};

  double node_cores = kUnknown;
  double node_idle_cores = kUnknown;
};

}  // namespace assay::agent
