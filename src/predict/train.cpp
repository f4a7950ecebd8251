// SPDX-License-Identifier: Apache-2.0
#include "model_file.h"
#include "statistics.h"
#include "trial.h"
#include "unmeasured.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include <assay/predict/leave_devices_out.h>
#include <assay/predict/train.h>

namespace assay::predict {
namespace {

constexpr size_t kFewRuns = 20;
constexpr size_t kLeastDevices = 4;
constexpr size_t kMostModels = 300;
constexpr double kIdleLoad = 0.1;

Chosen all_of(const Runs& runs) {
  Chosen all;
  for (size_t run = 0; run < runs.runs.size(); ++run) all.push_back(run);
  return all;
}

std::string words_of(const Task& task) {
  std::string words = task.device;
  for (const auto* more : {&task.engine, &task.precision})
    if (!more->empty()) words += " " + *more;
  return words;
}

/// A mapping's features ask for the table's columns; these are our names of them.
Result<Formula> in_our_words(const Mapping& mapping, Feature feature) {
  const auto rename = [&](Sum& sum) {
    for (auto& term : sum)
      for (const auto& [ours, theirs] : mapping.columns)
        if (theirs == term.column) term.column = ours;
  };
  rename(feature.sum);
  rename(feature.whole);
  return make_formula(feature);
}
Result<Recipe> recipe_of(const Mapping* mapping) {
  if (mapping == nullptr || mapping->features.empty()) return workload_recipe();
  Recipe recipe;
  for (const auto& feature : mapping->features) {
    ASSAY_TRY(auto formula, in_our_words(*mapping, feature));
    recipe.features.push_back(std::move(formula));
  }
  for (const auto& cost : mapping->costs) {
    ASSAY_TRY(auto formula, in_our_words(*mapping, cost));
    recipe.costs.push_back(std::move(formula));
  }
  return recipe;
}

/// Engines whose threads are not told are taken to have as many as there are cores.
double threads_of(const Runs& runs, size_t task, double threads) {
  if (threads > 0) return threads;
  return std::ceil(runs.devices[find_device(runs.devices, runs.tasks[task].device)].cores);
}

/// Of runs of one task with different numbers of threads only those with the most usual one: the
/// others are of another task, which nobody could ask for. Tells which are left out.
Runs with_usual_threads(const Runs& runs, std::vector<std::string>& left_out) {
  std::vector<std::map<double, size_t>> counts(runs.tasks.size());
  for (const auto& run : runs.runs) ++counts[run.task][run.threads];
  std::vector<double> usual;
  for (size_t task = 0; task < counts.size(); ++task) {
    const auto& of_task = counts[task];
    const auto most =
        std::max_element(of_task.begin(), of_task.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    usual.push_back(most == of_task.end() ? 0 : most->first);
    for (const auto& [threads, count] : of_task)
      if (threads_of(runs, task, threads) != threads_of(runs, task, usual.back()))
        left_out.push_back(fmt::format("{}: {} runs with {} threads, as most have {}",
                                       words_of(runs.tasks[task]), count, threads, usual.back()));
  }
  Runs used = runs;
  std::erase_if(used.runs, [&](const Run& run) {
    return threads_of(runs, run.task, run.threads) != threads_of(runs, run.task, usual[run.task]);
  });
  for (Run& run : used.runs) run.threads = usual[run.task];
  std::erase_if(used.profiles, [&](const ModelProfile& one) {
    return threads_of(runs, one.task, one.threads) != threads_of(runs, one.task, usual[one.task]);
  });
  return used;
}

/// Without tasks of which too few models were measured to learn from; tells which.
Runs without_small_tasks(const Runs& runs, std::vector<std::string>& left_out) {
  std::vector<std::set<size_t>> models(runs.tasks.size());
  for (const auto& run : runs.runs) models[run.task].insert(run.model);
  Runs used{runs.devices, {}, runs.models, {}, runs.refused};
  std::vector<size_t> number(runs.tasks.size());
  for (size_t task = 0; task < runs.tasks.size(); ++task) {
    number[task] = used.tasks.size();
    if (models[task].size() >= kLeastItems)
      used.tasks.push_back(runs.tasks[task]);
    else
      left_out.push_back(fmt::format("{}: {} models were measured, and {} are needed to learn from",
                                     words_of(runs.tasks[task]), models[task].size(), kLeastItems));
  }
  for (Run run : runs.runs) {
    if (models[run.task].size() < kLeastItems) continue;
    run.task = number[run.task];
    used.runs.push_back(run);
  }
  for (ModelProfile profile : runs.profiles) {
    if (models[profile.task].size() < kLeastItems) continue;
    profile.task = number[profile.task];
    used.profiles.push_back(std::move(profile));
  }
  return used;
}

std::vector<TaskFacts> facts_of(const Runs& runs) {
  std::vector<std::vector<double>> threads(runs.tasks.size());
  std::vector<std::vector<double>> watts(runs.tasks.size());
  std::vector<double> least(runs.tasks.size(), 1);
  for (const auto& run : runs.runs) {
    threads[run.task].push_back(run.threads);
    least[run.task] = std::min(least[run.task], run.load);
    // What others keep busy is not the model's to pay.
    if (run.joules > 0 && run.load < kIdleLoad) watts[run.task].push_back(run.joules / run.seconds);
  }
  std::vector<TaskFacts> facts;
  for (size_t task = 0; task < threads.size(); ++task) {
    const size_t device = find_device(runs.devices, runs.tasks[task].device);
    facts.push_back({median(std::move(threads[task])), device, place_of(runs.devices[device]),
                     watts[task].empty() ? 0 : median(std::move(watts[task])), least[task]});
  }
  return facts;
}

/// Of each model that an engine refused on a device and never ran there, once.
std::vector<Refusal> refusals_of(const Runs& runs) {
  std::set<std::tuple<std::string, std::string, std::vector<double>>> known;
  for (const auto& run : runs.runs) {
    const auto& model = runs.models[run.model];
    const Task& task = runs.tasks[run.task];
    if (model.workload)
      known.emplace(task.device, task.engine, column_values(model.counts, &*model.workload));
  }
  std::vector<Refusal> found;
  for (const auto& one : runs.refused)
    if (!one.numbers.empty() && known.emplace(one.task.device, one.task.engine, one.numbers).second)
      found.push_back(one);
  return found;
}

std::vector<Range> ranges_of(const Grid& values) {
  std::vector<Range> ranges(values.columns, {HUGE_VAL, -HUGE_VAL});
  for (size_t row = 0; row < values.rows; ++row)
    for (size_t column = 0; column < values.columns; ++column) {
      auto& [lowest, highest] = ranges[column];
      lowest = std::min(lowest, values.at(row, column));
      highest = std::max(highest, values.at(row, column));
    }
  return ranges;
}
Grid all_columns(const Runs& runs, const std::vector<size_t>& models) {
  Grid grid(models.size(), column_count());
  for (size_t row = 0; row < models.size(); ++row) {
    const RunModel& model = runs.models[models[row]];
    const auto values = column_values(model.counts, model.workload ? &*model.workload : nullptr);
    std::copy(values.begin(), values.end(),
              grid.values.begin() + static_cast<ptrdiff_t>(row * grid.columns));
  }
  return grid;
}

Result<Teller> make_teller(const Runs& runs, const Part& part, const Grid& idle,
                           const Verdict& verdict, uint64_t seed) {
  const auto lesson = idle_lesson(runs, *part.recipe, part.needs_workload, idle);
  Teller teller{*part.recipe, lesson.tasks, {}, {}, {}, {}, verdict.widths.widening};
  if (verdict.method == Method::pieces) {
    std::vector<double> shares;
    if (!verdict.whole_shares.empty())
      for (const size_t task : lesson.tasks) shares.push_back(verdict.whole_shares[task]);
    ASSAY_TRY(teller.idle,
              learn_idle_by_pieces(runs, lesson.lesson, lesson.tasks, lesson.models, idle));
    teller.idle.whole_shares = shares;
  } else {
    ASSAY_TRY(teller.idle, learn_idle(lesson.lesson, verdict.method, seed));
  }
  teller.features = ranges_of(lesson.lesson.features);
  teller.columns = ranges_of(all_columns(runs, lesson.models));
  for (const size_t task : lesson.tasks) teller.widths.push_back(verdict.widths.of_task[task]);
  return teller;
}

/// Counts alone never tell more than the whole workload does.
void widen(Teller& by_counts, const Widths& by_workload) {
  for (size_t row = 0; row < by_counts.tasks.size(); ++row)
    by_counts.widths[row] =
        std::max(by_counts.widths[row], by_workload.of_task[by_counts.tasks[row]]);
  by_counts.widening = std::max(by_counts.widening, by_workload.widening);
}

/// A device that is left out, told by 20 runs of models that tell most. Needs some devices to
/// compare, and few enough models that it takes seconds.
std::optional<DeviceTrial> try_few_runs(const Runs& runs, const Part& part, const Grid& idle,
                                        const TrainOptions& options) {
  const auto lesson = idle_lesson(runs, *part.recipe, part.needs_workload, idle);
  Table table;
  table.features = lesson.lesson.features;
  table.costs = lesson.lesson.costs;
  table.seconds = Grid(lesson.tasks.size(), lesson.models.size());
  for (size_t row = 0; row < lesson.tasks.size(); ++row) {
    table.tasks.push_back(words_of(runs.tasks[lesson.tasks[row]]));
    table.devices.push_back(runs.tasks[lesson.tasks[row]].device);
    for (size_t item = 0; item < lesson.models.size(); ++item)
      table.seconds.at(row, item) = std::exp(idle.at(lesson.tasks[row], lesson.models[item]));
  }
  for (const size_t model : lesson.models) table.items.push_back({runs.models[model].name, ""});
  const std::set<std::string> devices(table.devices.begin(), table.devices.end());
  if (devices.size() < kLeastDevices || table.items.size() > kMostModels) return std::nullopt;
  if (options.progress) options.progress("leaving out devices");
  const auto found = leave_devices_out(table, {.runs = kFewRuns, .runs_chosen = true});
  if (found.judged.empty()) return std::nullopt;
  return DeviceTrial{fmt::format("by {} runs", kFewRuns), accuracy(found.judged),
                     coverage(found.intervals)};
}

std::vector<TaskTrial> by_tasks(const Runs& runs, const Trial& trial) {
  std::vector<std::vector<Judged>> judged(runs.tasks.size());
  std::vector<std::set<size_t>> models(runs.tasks.size());
  for (const auto& told : trial.told) {
    const Run& run = runs.runs[told.run];
    judged[run.task].push_back({told.seconds, run.seconds});
    models[run.task].insert(run.model);
  }
  std::vector<TaskTrial> all;
  for (size_t task = 0; task < runs.tasks.size(); ++task)
    all.push_back({runs.tasks[task], models[task].size(), accuracy(judged[task])});
  return all;
}

/// The share of each kind of pieces in what is told of all models and tasks.
std::vector<std::pair<std::string, double>> importance_of_pieces(const Runs& runs,
                                                                 const ByPieces& learned) {
  std::map<std::string, double> sums;
  double models = 0;
  for (size_t model = 0; model < runs.models.size(); ++model) {
    const auto pieces = pieces_of(runs, model);
    if (pieces.empty()) continue;
    const auto whole = tell_pieces(learned, pieces, pieces);
    for (const auto& piece : pieces) {
      const auto own = tell_pieces(learned, std::span(&piece, 1), pieces);
      for (size_t task = 0; task < own.size(); ++task)
        sums[piece.kind] += std::exp(own[task] - whole[task]) / static_cast<double>(own.size());
    }
    models += 1;
  }
  std::vector<std::pair<std::string, double>> importance;
  importance.reserve(sums.size());
  for (const auto& [kind, sum] : sums) importance.emplace_back(kind, sum / models);
  return importance;
}

/// By how much what is told changes when a model has another one's feature.
std::vector<std::pair<std::string, double>> importance_of(const Runs& runs, const Teller& teller,
                                                          bool needs_workload) {
  if (teller.idle.method == Method::pieces) return importance_of_pieces(runs, teller.idle.pieces);
  std::vector<size_t> models;
  for (size_t model = 0; model < runs.models.size(); ++model)
    if (!needs_workload || runs.models[model].workload) models.push_back(model);
  const Grid features = formula_values(runs, models, teller.recipe.features);
  const Grid costs = formula_values(runs, models, teller.recipe.costs);
  const Grid told = tell_idle(teller.idle, features, costs);
  std::vector<std::pair<std::string, double>> importance;
  double sum = 0;
  for (size_t column = 0; column < features.columns; ++column) {
    Grid changed = features;
    for (size_t row = 0; row < models.size(); ++row)
      changed.at(row, column) = features.at((row + models.size() / 2) % models.size(), column);
    const Grid other = tell_idle(teller.idle, changed, costs);
    double change = 0;
    for (size_t i = 0; i < told.values.size(); ++i)
      change += std::abs(other.values[i] - told.values[i]);
    importance.emplace_back(teller.recipe.features[column].words(), change);
    sum += change;
  }
  for (auto& [name, share] : importance) share /= sum > 0 ? sum : 1;
  return importance;
}

/// 0 where there is none.
double number_at(const nlohmann::json& part, const char* name) {
  const auto found = part.find(name);
  return found != part.end() && found->is_number() ? found->get<double>() : 0;
}

}  // namespace

Result<Training> train(const Runs& all, const TrainOptions& options) {
  Training training;
  TrainReport& report = training.report;
  std::vector<std::string> small;
  const Runs runs = without_small_tasks(with_usual_threads(all, report.left_out), small);
  if (runs.runs.empty())
    return bad_input(small.empty() ? "no run is left to learn from" : small.front());
  report.left_out.insert(report.left_out.end(), small.begin(), small.end());
  ASSAY_TRY(const Recipe recipe, recipe_of(options.mapping));
  report.has_workload = std::any_of(runs.runs.begin(), runs.runs.end(), [&](const Run& run) {
    return runs.models[run.model].workload.has_value();
  });
  std::vector<Part> parts = {{&counts_recipe(), false}};
  if (report.has_workload) parts.push_back({&recipe, true});

  const RunFolds folds = make_folds(runs, options.seed);
  report.folds = folds.count;
  report.by_family = folds.by_family;
  ASSAY_TRY(const auto told, tell_unseen(runs, folds, parts, options));
  const Verdict by_counts = judge(runs, folds, told[0]);
  report.by_counts = by_counts.trial;

  if (options.progress) options.progress("learning from all runs");
  const Around around(runs);
  ASSAY_TRY(const auto load, learn_load(runs, around, all_of(runs), options.seed));
  Trained trained{runs.devices,
                  runs.tasks,
                  facts_of(runs),
                  load.slowdown.slowdown,
                  {},
                  {},
                  {},
                  usual_workloads(runs.models),
                  kBlindWidth,
                  refusals_of(runs)};
  ASSAY_TRY(trained.by_counts, make_teller(runs, parts[0], load.idle, by_counts, options.seed));
  if (report.has_workload) {
    const Verdict by_workload = judge(runs, folds, told[1]);
    report.by_workload = by_workload.trial;
    ASSAY_TRY(trained.by_workload,
              make_teller(runs, parts[1], load.idle, by_workload, options.seed));
    widen(trained.by_counts, by_workload.widths);
  }
  const Teller& main = trained.main();
  const auto unmeasured = try_unmeasured(trained, runs.models, load.idle, median(main.widths));
  if (unmeasured) {
    report.unseen_devices.push_back(unmeasured->trial);
    trained.unmeasured_width = unmeasured->width;
  }
  if (auto few = try_few_runs(runs, parts.back(), load.idle, options))
    report.unseen_devices.push_back(std::move(*few));
  report.tasks = by_tasks(runs, report.has_workload ? report.by_workload : report.by_counts);
  report.model_importance = importance_of(runs, main, report.has_workload);
  for (size_t i = 0; i < kSlowdownColumns.size(); ++i)
    report.load_importance.emplace_back(kSlowdownColumns.at(i), load.slowdown.importance[i]);
  add_unmeasured(trained);
  report.runs = runs;
  training.file = model_file_text(trained, load.slowdown.booster, all, train_document(report));
  return training;
}

Result<Older> read_older(const std::string& name, const std::string& text) {
  ASSAY_TRY(auto origin, read_origin(name, text));
  Older older{std::move(origin.runs), {}};
  const auto& validation = origin.validation;
  const char* part = validation.contains("by_workload") ? "by_workload" : "by_counts";
  if (const auto found = validation.find(part); found != validation.end()) {
    older.accuracy.mean_relative_error = number_at(*found, "mean_relative_error");
    older.accuracy.within_tenth = number_at(*found, "within_tenth");
  }
  return older;
}

}  // namespace assay::predict
