// SPDX-License-Identifier: Apache-2.0
#include "lessons.h"

#include "statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <assay/predict/new_device.h>

namespace assay::predict {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kSameLoad = 0.05;  ///< runs with so little more are as little loaded
constexpr double kOutlierSay = 0.1;

using Cell = std::pair<size_t, size_t>;  ///< task and model
std::map<Cell, Chosen> cells_of(const Runs& runs, const Chosen& chosen) {
  std::map<Cell, Chosen> cells;
  for (const size_t i : chosen) cells[{runs.runs[i].task, runs.runs[i].model}].push_back(i);
  return cells;
}

/// The runs with least load; outliers only where there are no others.
Chosen least_loaded(const Runs& runs, const Chosen& cell) {
  Chosen usual;
  for (const size_t i : cell)
    if (!runs.runs[i].outlier) usual.push_back(i);
  if (usual.empty()) usual = cell;
  double least = HUGE_VAL;
  for (const size_t i : usual) least = std::min(least, runs.runs[i].load);
  std::erase_if(usual, [&](size_t i) { return runs.runs[i].load > least + kSameLoad; });
  return usual;
}

constexpr size_t kMostTogether = 400;  ///< items whose times are compared over devices
constexpr size_t kLeastTogether = 3;   ///< tasks that say how

/// A task with few of the items, which others have, is told by how those vary together: the rest
/// is filled in by that.
void fill_sparse(Lesson& lesson) {
  const size_t items = lesson.features.rows;
  KnownDevices known{lesson.features, std::vector<std::string>(items), Grid(0, items)};
  std::vector<size_t> sparse;
  for (size_t task = 0; task < lesson.log_times.rows; ++task) {
    const auto times = lesson.log_times.row(task);
    const auto missing =
        std::count_if(times.begin(), times.end(), [](double time) { return std::isnan(time); });
    if (2 * static_cast<size_t>(missing) > items) {
      sparse.push_back(task);
      continue;
    }
    known.log_times.values.insert(known.log_times.values.end(), times.begin(), times.end());
    ++known.log_times.rows;
  }
  if (sparse.empty() || known.log_times.rows < kLeastTogether || items > kMostTogether) return;
  const Together together = learn_together(known, kBeliefs.front());
  for (const size_t task : sparse) {
    std::vector<MeasuredRun> measured;
    for (size_t item = 0; item < items; ++item)
      if (const double time = lesson.log_times.at(task, item); !std::isnan(time))
        measured.push_back({item, time});
    const Told told = tell_new_device(together, measured);
    for (size_t item = 0; item < items; ++item) {
      double& time = lesson.log_times.at(task, item);
      if (std::isnan(time)) time = told.log_times[item];
    }
  }
}

}  // namespace

Around::Around(const Runs& runs) : runs_(runs) {
  for (const auto& task : runs.tasks)
    places_.push_back(place_of(runs.devices[find_device(runs.devices, task.device)]));
}

Surroundings Around::of(const Run& run, double log_idle) const {
  const auto& workload = runs_.models[run.model].workload;
  return {run.load, run.threads, log_idle, places_[run.task], workload ? &*workload : nullptr};
}

Grid idle_times(const Runs& runs, const Around& around, const Chosen& chosen,
                const Slowdown* slowdown) {
  Grid idle(runs.tasks.size(), runs.models.size(), kNone);
  for (const auto& [cell, all] : cells_of(runs, chosen)) {
    std::vector<double> logs;
    for (const size_t i : least_loaded(runs, all)) {
      const Run& run = runs.runs[i];
      const double log = std::log(run.seconds);
      const auto surroundings = around.of(run, log);
      logs.push_back(log - (slowdown == nullptr ? fair_slowdown(surroundings)
                                                : slowdown->tell(run.task, surroundings)));
    }
    idle.at(cell.first, cell.second) = median(std::move(logs));
  }
  return idle;
}

SlowdownLesson slowdown_lesson(const Runs& runs, const Around& around, const Chosen& chosen,
                               const Grid& idle) {
  SlowdownLesson lesson;
  lesson.tasks = runs.tasks.size();
  for (const size_t i : chosen) {
    const Run& run = runs.runs[i];
    const double log_idle = idle.at(run.task, run.model);
    lesson.task.push_back(run.task);
    lesson.around.push_back(around.of(run, log_idle));
    lesson.logs.push_back(std::log(run.seconds) - log_idle);
    lesson.say.push_back(run.outlier ? kOutlierSay : 1);
  }
  return lesson;
}

Grid formula_values(const Runs& runs, const std::vector<size_t>& models,
                    const std::vector<Formula>& formulas) {
  Grid values(models.size(), formulas.size());
  for (size_t row = 0; row < models.size(); ++row) {
    const RunModel& model = runs.models[models[row]];
    const auto columns = column_values(model.counts, model.workload ? &*model.workload : nullptr);
    for (size_t i = 0; i < formulas.size(); ++i) values.at(row, i) = formulas[i].of(columns);
  }
  return values;
}

IdleLesson idle_lesson(const Runs& runs, const Recipe& recipe, bool needs_workload,
                       const Grid& idle, size_t least_models) {
  const auto usable = [&](size_t task, size_t model) {
    return !std::isnan(idle.at(task, model)) && (!needs_workload || runs.models[model].workload);
  };
  IdleLesson found;
  for (size_t task = 0; task < idle.rows; ++task) {
    size_t count = 0;
    for (size_t model = 0; model < idle.columns; ++model) count += usable(task, model) ? 1 : 0;
    if (count >= least_models) found.tasks.push_back(task);
  }
  for (size_t model = 0; model < idle.columns; ++model)
    if (std::any_of(found.tasks.begin(), found.tasks.end(),
                    [&](size_t task) { return usable(task, model); }))
      found.models.push_back(model);
  found.lesson.features = formula_values(runs, found.models, recipe.features);
  found.lesson.costs = formula_values(runs, found.models, recipe.costs);
  for (double& cost : found.lesson.costs.values) cost = std::max(cost, 0.0);
  found.lesson.log_times = Grid(found.tasks.size(), found.models.size(), kNone);
  for (size_t row = 0; row < found.tasks.size(); ++row)
    for (size_t item = 0; item < found.models.size(); ++item)
      if (usable(found.tasks[row], found.models[item]))
        found.lesson.log_times.at(row, item) = idle.at(found.tasks[row], found.models[item]);
  fill_sparse(found.lesson);
  return found;
}

}  // namespace assay::predict
