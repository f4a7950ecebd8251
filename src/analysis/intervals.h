// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <assay/samples/series.h>

namespace assay::analysis {

/// A value that held from `begin` to `end`.
struct Interval {
  Timestamp begin;
  Timestamp end;
  double value = 0;
};

/// Whether the series is a counter turned into its rate by as_shown.
bool is_rate(const SeriesInfo& info);

/// A counter's rates, each with the interval it was measured over. An interval in which the counter
/// stepped back is left out: what was counted before the step is not known. Samples closer than a
/// quarter of the usual distance are joined to a neighbour, since counters that advance in ticks
/// show absurd rates over a moment.
std::vector<Interval> rate_intervals(const Series& counter);

/// A gauge's values, each until the next one, and the last one until `to`.
std::vector<Interval> gauge_intervals(const Series& gauge, Timestamp to);

/// Either of them for a series as it was recorded.
std::vector<Interval> intervals_of(const Series& recorded, Timestamp to);

enum class Combine : uint8_t { sum, mean, highest };

/// Several series as one: at each moment the sum, mean or highest of those that have a value then.
std::vector<Interval> combine(const std::vector<std::vector<Interval>>& parts, Combine how);

}  // namespace assay::analysis
