// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "idle.h"
#include "recipe.h"
#include "slowdown.h"

#include <optional>
#include <string>
#include <vector>

#include <assay/predict/runs.h>

namespace assay::predict {

/// From what to what something reached in what was learned from.
struct Range {
  double lowest = 0;
  double highest = 0;
};

/// Tells times on idle devices by one recipe.
struct Teller {
  Recipe recipe;
  std::vector<size_t> tasks;  ///< the number of each task that it tells
  Idle idle;
  std::vector<Range> features;  ///< beyond which nothing is believed; of each feature
  std::vector<Range> columns;   ///< of all numbers of a model
  std::vector<double> widths;   ///< half of each task's interval, in logarithms, when idle
  double widening = 0;          ///< how much wider intervals are under full load

  /// The logarithm of seconds for each of its tasks.
  std::vector<double> tell(const std::vector<double>& columns) const;
  double width(size_t row, double load) const { return widths[row] * (1 + widening * load); }
};

/// What is told of a task beyond what its device is.
struct TaskFacts {
  double threads = 0;  ///< of the engine, mostly; 0: not known
};

/// All that `assay train` has learned.
struct Trained {
  std::vector<Device> devices;
  std::vector<Task> tasks;
  std::vector<TaskFacts> facts;  ///< of tasks
  Slowdown slowdown;
  std::optional<Teller> by_workload;  ///< none where no table had the workload's columns
  Teller by_counts;

  /// Null when it is not known.
  const Device* device_of(size_t task) const;
};

/// Why a model with these numbers is beyond what was learned from, in a sentence; empty: it is not.
/// `first` and `last`: which columns are looked at.
std::string doubt_of(const Teller& teller, const std::vector<double>& columns, size_t first,
                     size_t last);

}  // namespace assay::predict
