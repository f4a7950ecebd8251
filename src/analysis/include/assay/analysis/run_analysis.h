// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <assay/samples/records.h>
#include <assay/samples/series.h>

/// Pure functions over what was recorded: no I/O, no clock.
namespace assay::analysis {

/// How a value was distributed over a run, weighted by time for levels and rates, one weight per
/// value for events.
struct Distribution {
  double mean = 0;
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double peak = 0;
  double min = 0;
  uint64_t count = 0;
  std::string unit;
  std::string source;
};

struct GoalResult {
  Goal goal;
  std::optional<double> value;  ///< nothing: the metric was never reported
  bool met = false;
  std::string unit;  ///< of value and bound; empty when nobody knows
};

/// A finding in one plain sentence, what it rests on, and what to do.
struct Advice {
  std::string finding;
  std::string evidence;
  std::string action;
};

/// What follows from one run's record and samples. Everything is taken after the warm-up.
struct RunAnalysis {
  /// By footprint name ("cpu_cores", "memory_bytes", ...), what the app needed; in the order to
  /// show. Peaks of memory are raised to what the kernel's own marks prove beyond the samples: the
  /// high-water mark less the most file cache that was seen, and outside of a control group the
  /// largest process at exit.
  std::vector<std::pair<std::string, Distribution>> footprint;
  /// The same for the whole node.
  std::vector<std::pair<std::string, Distribution>> node;
  /// The same for each container that the app needed beside itself, by its name.
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, Distribution>>>> needs;
  /// What others on the node used: CPU, disk and network, where it is known.
  std::vector<std::pair<std::string, Distribution>> others;
  /// Whether they used so much CPU time that the numbers may be off; nothing: it is not known.
  std::optional<bool> disturbed;
  /// In one plain sentence without a capital or full stop; empty unless disturbed.
  std::string disturbance;
  /// What the app reported about itself, by name.
  std::vector<std::pair<std::string, Distribution>> metrics;
  std::vector<GoalResult> goals;
  std::vector<Advice> advice;
  /// The answer in one plain sentence: "needs 1.8 cores and 612 MB; reached 12.4 of 10 fps".
  std::string answer;
};

/// A counter as its rate between neighbouring samples, stamped with the later one, named and
/// measured as the catalogue says. It keeps Kind::counter, by which `distribution` knows a rate. A
/// counter that steps back starts anew: that interval has no rate. Samples much closer than usual
/// are joined. Other series, and what is a rate already, are returned as they are.
Series as_shown(const Series& series);

/// Time-weighted for gauges and rates: a rate holds for the interval that ends at its sample, a
/// gauge until the next sample. `from` leaves the warm-up out.
Distribution distribution(const Series& shown, Timestamp from, Timestamp to);

Result<RunAnalysis> analyze_run(const RunRecord& run, const Device& device,
                                const SeriesReader& samples);

const Distribution* find(const std::vector<std::pair<std::string, Distribution>>& list,
                         const std::string& name);
/// "mean", "p50", "p95", "p99", "peak", "min".
std::optional<double> statistic(const Distribution& d, const std::string& name);
/// 200 ms as "200 ms", 0.61 GB as "612 MB", 12.4 frames as "12.4": for people, by unit.
std::string format_value(double value, const std::string& unit);

}  // namespace assay::analysis
