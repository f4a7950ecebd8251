// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracker.h"

#include <functional>
#include <string>

#include <assay/cluster/reading.h>

namespace assay::cluster {

/// Asks Prometheus for the series of GPUs, some in each round, and finds their cycles, classes and
/// forecasts. One thread at a time.
class GpuPatterns {
 public:
  struct Times {
    Nanoseconds patterns{std::chrono::minutes(5)};  ///< in which all GPUs are looked at
    Nanoseconds days{std::chrono::hours(1)};        ///< and in which their next day is
  };
  GpuPatterns(Nanoseconds round, Times times) : round_(round), times_(times) {}

  /// While `more` says so; what is not reached comes first in the next round.
  Result<void> look(promapi::Queries& queries, const Sources& sources, Tracker& tracker,
                    Timestamp now, const std::function<bool()>& more, net::Stopper* stopper);

 private:
  struct Turn {
    std::string after = {};  ///< the uuid that was looked at last
  };
  std::vector<std::string> next(Turn& turn, const std::vector<std::string>& uuids,
                                Nanoseconds all_in) const;

  const Nanoseconds round_;
  const Times times_;
  Turn patterns_;
  Turn days_;
};

}  // namespace assay::cluster
