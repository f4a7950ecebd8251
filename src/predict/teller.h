// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "idle.h"
#include "recipe.h"
#include "slowdown.h"

#include <optional>
#include <span>
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

  /// The logarithm of seconds for each of its tasks. Without pieces, where they are what tells,
  /// nothing.
  std::vector<double> tell(const std::vector<double>& columns,
                           std::span<const model::Piece> pieces) const;
};

/// What is told of a task beyond what its device is.
struct TaskFacts {
  double threads = 0;     ///< of the engine, mostly; 0: not known
  size_t device = 0;      ///< its number
  Place place;            ///< of the device
  double watts = 0;       ///< while it runs a model and nothing else; 0: not measured
  double least_load = 0;  ///< beside which anything was measured
};
/// The number of the device with that name; as many as there are when there is none.
size_t find_device(const std::vector<Device>& devices, const std::string& name);

struct Trained;

/// A device that was calibrated and on which nothing was run: what it takes follows from what
/// others take, by what the two were measured to reach.
struct Unmeasured {
  /// A task of another device, and how the two compare for a usual model, in logarithms.
  struct Kin {
    size_t task = 0;
    double usual = 0;
  };
  size_t task = 0;  ///< its own number
  std::vector<Kin> kin;
  double width = 0;  ///< half of the interval, in logarithms

  /// The logarithm of seconds, from those of the measured tasks (NaN where there is none). Without
  /// a workload devices compare as they usually do. Nothing when no kin was told.
  std::optional<double> tell(const Trained& trained, std::span<const double> logs,
                             const model::Workload* workload) const;
};

/// All that `assay train` has learned.
struct Trained {
  std::vector<Device> devices;
  std::vector<Task> tasks;
  std::vector<TaskFacts> facts;  ///< of tasks
  Slowdown slowdown;
  std::optional<Teller> by_workload;  ///< none where no table had the workload's columns
  Teller by_counts;
  std::vector<Unmeasured> unmeasured;  ///< their tasks are behind all others
  std::vector<model::Workload> usual;  ///< by which devices are compared
  double unmeasured_width = 0;         ///< half of an interval of a device without runs
  std::vector<Refusal> refused;        ///< one for each model, device and engine

  /// The one that tells most.
  const Teller& main() const { return by_workload ? *by_workload : by_counts; }
  const Device& device_of(size_t task) const { return devices[facts[task].device]; }
};

/// Why a model is beyond what was learned from.
struct Doubt {
  std::string words;  ///< a sentence; empty: it is not
  /// By how much half of an interval by counts alone is wider, in logarithms. A whole workload is
  /// told by what its parts cost, also beyond, and what is off there is so for all devices.
  double width = 0;
};
/// `first` and `last`: which columns are looked at.
Doubt doubt_of(const Teller& teller, const std::vector<double>& columns, size_t first, size_t last);

}  // namespace assay::predict
