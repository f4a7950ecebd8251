// SPDX-License-Identifier: Apache-2.0
#include "trial.h"

#include "statistics.h"
#include "unmeasured.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <set>

#include <assay/predict/folds.h>
#include <assay/predict/intervals.h>
#include <assay/predict/validate.h>

namespace assay::predict {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kFolds = 10;
constexpr size_t kLeastFamilies = 5;
constexpr size_t kLeastInFold = kLeastItems - 1;
constexpr double kWorst = 0.5;  ///< errors above count as this when methods are compared
constexpr double kMostWidening = 5;
constexpr double kLeastSpread = 0.05;  ///< of loads, to tell how errors grow with them

std::vector<size_t> kept(const RunFolds& folds, size_t fold, bool inside) {
  std::vector<size_t> runs;
  for (size_t run = 0; run < folds.of_run.size(); ++run)
    if ((folds.of_run[run] == fold) == inside) runs.push_back(run);
  return runs;
}

std::vector<size_t> models_of(const Runs& runs, const Chosen& chosen, bool needs_workload) {
  std::set<size_t> models;
  for (const size_t run : chosen)
    if (!needs_workload || runs.models[runs.runs[run].model].workload)
      models.insert(runs.runs[run].model);
  return {models.begin(), models.end()};
}

/// One fold: what is learned from the runs outside, and what is told of those inside.
class Fold {
 public:
  Fold(const Runs& runs, const Around& around, const Chosen& known, const Chosen& asked)
      : runs_(runs), around_(around), known_(known), asked_(asked) {}

  Result<void> learn(uint64_t seed) {
    ASSAY_TRY(load_, learn_load(runs_, around_, known_, seed));
    return {};
  }
  Result<void> tell(const Part& part, uint64_t seed, UnseenTold& told) const {
    const auto lesson =
        idle_lesson(runs_, *part.recipe, part.needs_workload, load_.idle, kLeastInFold);
    const auto models = models_of(runs_, asked_, part.needs_workload);
    if (lesson.tasks.empty() || models.empty()) return {};
    const Grid features = formula_values(runs_, models, part.recipe->features);
    Grid costs = formula_values(runs_, models, part.recipe->costs);
    for (double& cost : costs.values) cost = std::max(cost, 0.0);
    for (size_t i = 0; i < told.methods.size(); ++i) {
      if (told.methods[i] == Method::pieces) {
        // With too few pieces of some task the others are still tried.
        if (const auto idle = tell_by_pieces(lesson, models))
          spread(lesson.tasks, models, *idle, told.logs[i]);
        else
          told.drop(i--);
        continue;
      }
      ASSAY_TRY(const auto idle, learn_idle(lesson.lesson, told.methods[i], seed));
      spread(lesson.tasks, models, tell_idle(idle, features, costs), told.logs[i]);
    }
    return {};
  }

 private:
  Result<Grid> tell_by_pieces(const IdleLesson& lesson, const std::vector<size_t>& models) const {
    ASSAY_TRY(const auto learned, learn_pieces(runs_, lesson.tasks, lesson.models, load_.idle));
    Grid idle(lesson.tasks.size(), models.size(), kNone);
    for (size_t item = 0; item < models.size(); ++item) {
      const auto pieces = pieces_of(runs_, models[item]);
      if (pieces.empty()) continue;
      const auto logs = tell_pieces(learned, pieces, pieces);
      for (size_t row = 0; row < logs.size(); ++row) idle.at(row, item) = logs[row];
    }
    return idle;
  }
  /// From times on idle devices to those of the runs, each beside its load.
  void spread(const std::vector<size_t>& tasks, const std::vector<size_t>& models, const Grid& idle,
              std::vector<double>& logs) const {
    std::map<size_t, size_t> row_of;
    std::map<size_t, size_t> item_of;
    for (size_t i = 0; i < tasks.size(); ++i) row_of[tasks[i]] = i;
    for (size_t i = 0; i < models.size(); ++i) item_of[models[i]] = i;
    for (const size_t i : asked_) {
      const Run& run = runs_.runs[i];
      const auto row = row_of.find(run.task);
      const auto item = item_of.find(run.model);
      if (row == row_of.end() || item == item_of.end()) continue;
      const double log = idle.at(row->second, item->second);
      logs[i] = log + load_.slowdown.slowdown.tell(run.task, around_.of(run, log));
    }
  }

  const Runs& runs_;
  const Around& around_;
  const Chosen& known_;
  const Chosen& asked_;
  LoadLearned load_;
};

double error_of(const Runs& runs, const std::vector<double>& logs, size_t run) {
  return logs[run] - std::log(runs.runs[run].seconds);
}

double loss_of(const Runs& runs, const std::vector<double>& logs) {
  double sum = 0;
  size_t count = 0;
  for (size_t run = 0; run < logs.size(); ++run) {
    if (std::isnan(logs[run]) || runs.runs[run].outlier) continue;
    sum += std::min(std::abs(error_of(runs, logs, run)), kWorst);
    ++count;
  }
  return count == 0 ? HUGE_VAL : sum / static_cast<double>(count);
}

/// Loss of runs of one task outside of one fold, when pieces are drawn so far to whole models.
double loss_drawn(const Runs& runs, const Chosen& outside, const std::vector<double>& pieces,
                  const std::vector<double>& wholes, double share) {
  double sum = 0;
  for (const size_t run : outside) {
    const double told = std::lerp(pieces[run], wholes[run], share);
    sum += std::min(std::abs(told - std::log(runs.runs[run].seconds)), kWorst);
  }
  return sum;
}

/// Draws what pieces tell to what whole models tell, as far as helps in each task. How far is seen
/// from the errors in the other folds, not from those of the runs themselves.
void draw_to_wholes(const Runs& runs, const RunFolds& folds, UnseenTold& told) {
  const auto index_of = [&](Method method) {
    return static_cast<size_t>(std::find(told.methods.begin(), told.methods.end(), method) -
                               told.methods.begin());
  };
  const size_t by_pieces = index_of(Method::pieces);
  const size_t by_wholes = index_of(Method::processes);
  if (by_pieces == told.methods.size() || by_wholes == told.methods.size()) return;
  const auto pieces = told.logs[by_pieces];
  const auto& wholes = told.logs[by_wholes];
  const auto best_share = [&](size_t task, size_t fold) {
    Chosen outside;
    for (size_t run = 0; run < pieces.size(); ++run)
      if (runs.runs[run].task == task && folds.of_run[run] != fold && !runs.runs[run].outlier &&
          !std::isnan(pieces[run]) && !std::isnan(wholes[run]))
        outside.push_back(run);
    double best = 0;
    double least = HUGE_VAL;
    for (int tenths = 0; tenths <= 10; ++tenths) {
      const double loss = loss_drawn(runs, outside, pieces, wholes, tenths / 10.0);
      if (!(loss < least)) continue;
      least = loss;
      best = tenths / 10.0;
    }
    return best;
  };
  for (size_t task = 0; task < runs.tasks.size(); ++task) {
    std::vector<double> shares;
    for (size_t fold = 0; fold < folds.count; ++fold) shares.push_back(best_share(task, fold));
    for (size_t run = 0; run < pieces.size(); ++run)
      if (runs.runs[run].task == task && !std::isnan(wholes[run]))
        told.logs[by_pieces][run] = std::lerp(pieces[run], wholes[run], shares[folds.of_run[run]]);
    told.whole_shares.push_back(best_share(task, folds.count));
  }
}

std::vector<Judged> judged_of(const Runs& runs, const std::vector<double>& logs) {
  std::vector<Judged> all;
  for (size_t run = 0; run < logs.size(); ++run)
    if (!std::isnan(logs[run])) all.push_back({std::exp(logs[run]), runs.runs[run].seconds});
  return all;
}

/// How much errors grow from an idle to a busy device, by a line through their sizes.
double widening_of(const Runs& runs, const std::vector<double>& logs, const Chosen& chosen) {
  double count = 0;
  double loads = 0;
  double sizes = 0;
  double squares = 0;
  double both = 0;
  for (const size_t run : chosen) {
    if (std::isnan(logs[run])) continue;
    const double load = runs.runs[run].load;
    const double size = std::min(std::abs(error_of(runs, logs, run)), kWorst);
    count += 1;
    loads += load;
    sizes += size;
    squares += load * load;
    both += load * size;
  }
  const double spread = squares - loads * loads / std::max(count, 1.0);
  if (!(spread > kLeastSpread * kLeastSpread * count)) return 0;
  const double slope = (both - loads * sizes / count) / spread;
  const double start = (sizes - slope * loads) / count;
  return start > 0 ? std::clamp(slope / start, 0.0, kMostWidening) : kMostWidening;
}

Widths widths_of(const Runs& runs, const std::vector<double>& logs, const Chosen& chosen) {
  Widths widths;
  widths.widening = widening_of(runs, logs, chosen);
  std::vector<std::vector<double>> errors(runs.tasks.size());
  for (const size_t run : chosen)
    if (!std::isnan(logs[run]))
      errors[runs.runs[run].task].push_back(error_of(runs, logs, run) /
                                            (1 + widths.widening * runs.runs[run].load));
  size_t most = 0;
  for (const auto& list : errors) most = std::max(most, list.size());
  Grid grid(errors.size(), most, kNone);
  for (size_t task = 0; task < errors.size(); ++task)
    std::copy(errors[task].begin(), errors[task].end(),
              grid.values.begin() + static_cast<ptrdiff_t>(task * most));
  widths.of_task = half_widths(grid, kHeld);
  // Of a task that could not be tried nothing better is known than of the worst that could.
  double widest = 0;
  for (size_t task = 0; task < errors.size(); ++task)
    if (!errors[task].empty()) widest = std::max(widest, widths.of_task[task]);
  for (size_t task = 0; task < errors.size(); ++task)
    if (errors[task].empty()) widths.of_task[task] = widest > 0 ? widest : kBlindWidth;
  return widths;
}

/// Each run with an interval by the errors in the other folds.
std::vector<ToldRun> with_intervals(const Runs& runs, const RunFolds& folds,
                                    const std::vector<double>& logs) {
  std::vector<ToldRun> told;
  for (size_t fold = 0; fold < folds.count; ++fold) {
    const Widths widths = widths_of(runs, logs, kept(folds, fold, false));
    for (const size_t i : kept(folds, fold, true)) {
      if (std::isnan(logs[i])) continue;
      const Run& run = runs.runs[i];
      const double half = widths.of_task[run.task] * (1 + widths.widening * run.load);
      told.push_back({i, std::exp(logs[i]), std::exp(logs[i] - half), std::exp(logs[i] + half)});
    }
  }
  return told;
}

/// The best that two ways to run a model on one device were told and found to take.
Judged faster(const Judged& a, const Judged& b) {
  return {std::min(a.predicted, b.predicted), std::min(a.actual, b.actual)};
}

/// One choice for each time that a model was run: its first run on each device, its second, ...
/// A device is as fast as the best of its tasks.
Choices fastest_of(const Runs& runs, const std::vector<double>& logs) {
  std::map<std::pair<std::string, size_t>, std::map<std::string, Judged>> choices;
  std::map<std::pair<size_t, std::string>, size_t> turns;
  for (size_t i = 0; i < logs.size(); ++i) {
    const Run& run = runs.runs[i];
    if (std::isnan(logs[i]) || run.outlier) continue;
    const std::string& name = runs.models[run.model].name;
    const auto key = std::make_pair(name, turns[{run.task, name}]++);
    const Judged one{std::exp(logs[i]), run.seconds};
    const auto [best, is_new] = choices[key].try_emplace(runs.tasks[run.task].device, one);
    if (!is_new) best->second = faster(best->second, one);
  }
  std::vector<std::vector<Judged>> all;
  for (const auto& [key, devices] : choices) {
    auto& choice = all.emplace_back();
    for (const auto& [device, best] : devices) choice.push_back(best);
  }
  return judge_choices(all);
}

/// Forms of one network that differ in chosen sizes alone stay together.
std::string network_of(const std::string& model) {
  return model.substr(0, model.find('['));
}

}  // namespace

RunFolds make_folds(const Runs& runs, uint64_t seed) {
  std::set<std::string> families;
  std::set<std::string> models;
  for (const auto& run : runs.runs) {
    families.insert(runs.models[run.model].family);
    models.insert(network_of(runs.models[run.model].name));
  }
  RunFolds folds;
  folds.by_family = families.size() >= kLeastFamilies;
  folds.count = std::min(kFolds, folds.by_family ? families.size() : models.size());
  std::vector<std::string> groups;
  for (const auto& run : runs.runs) {
    const RunModel& model = runs.models[run.model];
    groups.push_back(folds.by_family ? model.family : network_of(model.name));
  }
  folds.of_run = grouped_folds(groups, folds.count, seed);
  return folds;
}

Result<LoadLearned> learn_load(const Runs& runs, const Around& around, const Chosen& chosen,
                               uint64_t seed) {
  const Grid first = idle_times(runs, around, chosen, nullptr);
  ASSAY_TRY(auto slowdown, learn_slowdown(slowdown_lesson(runs, around, chosen, first), seed));
  Grid idle = idle_times(runs, around, chosen, &slowdown.slowdown);
  return LoadLearned{std::move(slowdown), std::move(idle)};
}

Result<std::vector<UnseenTold>> tell_unseen(const Runs& runs, const RunFolds& folds,
                                            const std::vector<Part>& parts,
                                            const TrainOptions& options) {
  std::vector<UnseenTold> told(parts.size());
  for (size_t part = 0; part < parts.size(); ++part) {
    auto& one = told[part];
    one.methods = methods_for(runs.models.size());
    if (parts[part].needs_workload && has_pieces(runs)) one.methods.push_back(Method::pieces);
    one.logs.assign(one.methods.size(), std::vector<double>(runs.runs.size(), kNone));
  }
  const Around around(runs);
  for (size_t number = 0; number < folds.count; ++number) {
    if (options.progress)
      options.progress(fmt::format("validating: {} of {}", number + 1, folds.count));
    const auto known = kept(folds, number, false);
    const auto asked = kept(folds, number, true);
    if (known.empty()) continue;
    Fold fold(runs, around, known, asked);
    ASSAY_CHECK(fold.learn(options.seed));
    for (size_t part = 0; part < parts.size(); ++part)
      ASSAY_CHECK(fold.tell(parts[part], options.seed, told[part]));
  }
  for (auto& one : told) draw_to_wholes(runs, folds, one);
  // Models that were run without a profile are told by the first method, so that all are compared
  // by the same runs.
  for (auto& one : told)
    for (size_t i = 1; i < one.methods.size(); ++i)
      for (size_t run = 0; run < runs.runs.size(); ++run)
        if (std::isnan(one.logs[i][run])) one.logs[i][run] = one.logs[0][run];
  return told;
}

Verdict judge(const Runs& runs, const RunFolds& folds, const UnseenTold& told) {
  Verdict verdict;
  double least = HUGE_VAL;
  size_t best = 0;
  for (size_t i = 0; i < told.methods.size(); ++i) {
    const std::string name(kMethodNames.at(static_cast<size_t>(told.methods[i])));
    verdict.trial.tried.emplace_back(name, accuracy(judged_of(runs, told.logs[i])));
    const double loss = loss_of(runs, told.logs[i]);
    verdict.trial.tried.back().second.bounded_error = loss;
    if (!(loss < least)) continue;
    least = loss;
    best = i;
  }
  const auto& logs = told.logs[best];
  verdict.method = told.methods[best];
  verdict.whole_shares = told.whole_shares;
  verdict.trial.method = verdict.trial.tried[best].first;
  verdict.trial.accuracy = verdict.trial.tried[best].second;
  verdict.trial.told = with_intervals(runs, folds, logs);
  std::vector<Interval> intervals;
  for (const auto& one : verdict.trial.told)
    intervals.push_back({one.low, one.high, runs.runs[one.run].seconds});
  verdict.trial.coverage = coverage(intervals);
  verdict.trial.fastest = fastest_of(runs, logs);
  Chosen all;
  for (size_t run = 0; run < runs.runs.size(); ++run) all.push_back(run);
  verdict.widths = widths_of(runs, logs, all);
  return verdict;
}

}  // namespace assay::predict
