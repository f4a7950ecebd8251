// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "teller.h"

#include <vector>

#include <assay/predict/learn.h>
#include <assay/predict/runs.h>

namespace assay::predict {

/// Which runs are learned from, by their numbers.
using Chosen = std::vector<size_t>;

/// What surrounded runs; points into them.
class Around {
 public:
  explicit Around(const Runs& runs);
  Surroundings of(const Run& run, double log_idle) const;

 private:
  const Runs& runs_;
  std::vector<Place> places_;  ///< of tasks
};

/// The logarithms of times on idle devices, tasks x models, by each one's least loaded runs; NaN
/// where there is none. Without a slowdown, only that of a fair scheduler is taken off.
Grid idle_times(const Runs& runs, const Around& around, const Chosen& chosen,
                const Slowdown* slowdown);

/// From these runs, and what they would have taken on an idle device.
SlowdownLesson slowdown_lesson(const Runs& runs, const Around& around, const Chosen& chosen,
                               const Grid& idle);

/// What one recipe is learned from.
struct IdleLesson {
  Lesson lesson;
  std::vector<size_t> tasks;   ///< rows of the lesson's times
  std::vector<size_t> models;  ///< items of it
};
/// Leaves out tasks with fewer than `least_models`, and models without a time or without the
/// numbers that are needed.
IdleLesson idle_lesson(const Runs& runs, const Recipe& recipe, bool needs_workload,
                       const Grid& idle, size_t least_models = kLeastItems);

/// Features or costs, models x formulas.
Grid formula_values(const Runs& runs, const std::vector<size_t>& models,
                    const std::vector<Formula>& formulas);

}  // namespace assay::predict
