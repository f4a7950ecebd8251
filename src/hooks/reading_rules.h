// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "losses.h"
#include "message_parser.h"

#include <optional>
#include <string_view>

#include <assay/base/time.h>

namespace assay::hooks {

/// When a reading came: on our clock, and on the wall clock, which is the client's too.
struct Arrival {
  Timestamp time;
  Timestamp wall;
};

/// How far a client's time may lie from ours: it may have kept events back for a while, but it
/// cannot know the future, which would hold up the times of all that follow.
constexpr Nanoseconds kMaxAge = std::chrono::hours(1);
constexpr Nanoseconds kMaxAhead = std::chrono::minutes(1);
constexpr size_t kMaxUnit = 32;

/// The time on our clock of what a client stamped with Unix seconds (NaN: not told). The stamp is
/// taken as an age on the wall clock of this moment, and counted back from the arrival on our
/// clock: so a step of the wall clock does not shift events against other samples. A stamp from
/// the future (of before a step back) counts as now.
Timestamp time_of(double stamp, const Arrival& arrival, Losses& losses);

/// Why nothing can be recorded under that name; nothing when it is good.
std::optional<Trouble> trouble_with(std::string_view name);

struct Unit {
  std::string_view name;
  double factor = 1;  ///< what one of the client's units is in this one
};

/// The base unit of a metric that begins with this reading.
Unit first_unit(const Reading& reading);
/// From a reading's unit to the metric's, which had `factor` at first; nothing when they do not
/// belong together. A client may tell the unit only once.
std::optional<double> factor_to(std::string_view unit, double factor, const Reading& reading);

}  // namespace assay::hooks
