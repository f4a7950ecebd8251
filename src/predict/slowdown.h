// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trees.h"

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/model/workload.h>
#include <assay/predict/device.h>

namespace assay::predict {

/// What of a device decides how it suffers from a load; NaN where it was not calibrated.
struct Place {
  double cores = 1;
  float bytes_per_flop = 0;
  float bandwidth_headroom = 0;  ///< of all cores over that of one
  float latency_contended = 0;   ///< over that of an idle memory
};
Place place_of(const Device& device);

/// What surrounds an inference.
struct Surroundings {
  double load = 0;      ///< share of the device's cores that other work keeps busy
  double threads = 0;   ///< of the engine; 0: as many as there are cores
  double log_idle = 0;  ///< logarithm of the seconds that it takes on an idle device
  Place place;
  const model::Workload* workload = nullptr;  ///< null: not known
};

constexpr std::array<std::string_view, 12> kSlowdownColumns = {
    "load",          "busy_cores",       "contention",         "cores",
    "threads",       "log_idle_seconds", "log_macs",           "bytes_per_mac",
    "log_operators", "bytes_per_flop",   "bandwidth_headroom", "latency_contended"};
using SlowdownRow = std::array<float, kSlowdownColumns.size()>;
/// What the trees are asked; NaN where it is not known.
SlowdownRow slowdown_row(const Surroundings& around);

/// The logarithm of how much longer it takes when a fair scheduler shares the cores and nothing
/// else is in the way.
double fair_slowdown(const Surroundings& around);

/// How much longer an inference takes beside other work: by trees, times a factor of each task. It
/// never falls when the load rises.
struct Slowdown {
  Trees trees;
  std::vector<double> factors;  ///< of tasks

  /// The logarithm.
  double tell(size_t task, const Surroundings& around) const;
  /// The same for many, one for each of the tasks.
  std::vector<double> tell(std::span<const size_t> tasks,
                           std::span<const Surroundings> around) const;
};

/// What slowdowns are learned from: rows of runs.
struct SlowdownLesson {
  size_t tasks = 0;
  std::vector<size_t> task;
  std::vector<Surroundings> around;
  std::vector<double> logs;  ///< of the slowdown that was measured
  std::vector<double> say;   ///< 1 is usual
};
struct LearnedSlowdown {
  std::string booster;  ///< XGBoost's JSON
  Slowdown slowdown;
  std::vector<double> importance;  ///< of columns, as shares
};
/// Under loads that a task was not measured with, a fair scheduler stands in.
Result<LearnedSlowdown> learn_slowdown(const SlowdownLesson& lesson, uint64_t seed);
/// From XGBoost's JSON and the factors.
Result<Slowdown> read_slowdown(const nlohmann::json& document, std::vector<double> factors);

}  // namespace assay::predict
