// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/predict/folds.h>
#include <assay/predict/intervals.h>
#include <assay/predict/learn.h>
#include <assay/predict/validate.h>

namespace assay::predict {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kLeastToLearn = 5;

using Indices = std::vector<size_t>;

Grid part_of(const Grid& grid, const Indices& rows, const Indices& columns) {
  Grid part(rows.size(), columns.size());
  for (size_t row = 0; row < rows.size(); ++row)
    for (size_t column = 0; column < columns.size(); ++column)
      part.at(row, column) = grid.at(rows[row], columns[column]);
  return part;
}
Indices all_of(size_t count) {
  Indices all(count);
  for (size_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

/// The tasks with enough times among these items.
Indices taught(const Grid& seconds, const Indices& items) {
  Indices tasks;
  for (size_t task = 0; task < seconds.rows; ++task) {
    const auto count = std::count_if(items.begin(), items.end(), [&](size_t item) {
      return !std::isnan(seconds.at(task, item));
    });
    if (static_cast<size_t>(count) >= kLeastToLearn) tasks.push_back(task);
  }
  return tasks;
}

Result<void> validate_fold(const Table& table, const Indices& known, const Indices& asked,
                           Grid& seconds) {
  const Indices tasks = taught(table.seconds, known);
  if (tasks.empty() || asked.empty()) return {};
  const Indices features = all_of(table.features.columns);
  const Indices costs = all_of(table.costs.columns);
  Lesson lesson{part_of(table.features, known, features), part_of(table.costs, known, costs),
                part_of(table.seconds, tasks, known)};
  for (double& time : lesson.log_times.values) time = std::log(time);
  ASSAY_TRY(const auto learned, learn(lesson));
  const Grid told =
      tell(learned, part_of(table.features, asked, features), part_of(table.costs, asked, costs));
  for (size_t task = 0; task < tasks.size(); ++task)
    for (size_t item = 0; item < asked.size(); ++item)
      seconds.at(tasks[task], asked[item]) = std::exp(told.at(task, item));
  return {};
}

/// The items in the fold, or those outside it.
Indices items_of(const Indices& folds, size_t fold, bool inside) {
  Indices items;
  for (size_t item = 0; item < folds.size(); ++item)
    if ((folds[item] == fold) == inside) items.push_back(item);
  return items;
}

/// The widths of one fold's intervals come from the errors in the others.
void widen(const Grid& errors, const Indices& known, const Indices& asked, Grid& widths) {
  const auto found = half_widths(part_of(errors, all_of(errors.rows), known), kHeld);
  for (size_t task = 0; task < errors.rows; ++task)
    for (const size_t item : asked) widths.at(task, item) = found[task];
}

template <typename Use>
void for_each_told(const Table& table, const Validation& found, Use use) {
  for (size_t task = 0; task < table.seconds.rows; ++task)
    for (size_t item = 0; item < table.seconds.columns; ++item)
      if (!std::isnan(table.seconds.at(task, item)) && !std::isnan(found.seconds.at(task, item)))
        use(task, item);
}

}  // namespace

Result<Validation> validate(const Table& table, size_t folds, uint64_t seed) {
  std::vector<std::string> models;
  for (const auto& item : table.items) models.push_back(item.model);
  const Indices fold_of = grouped_folds(models, folds, seed);
  const size_t tasks = table.tasks.size();
  Validation found{Grid(tasks, models.size(), kNone), Grid(tasks, models.size())};
  for (size_t fold = 0; fold < folds; ++fold)
    ASSAY_CHECK(validate_fold(table, items_of(fold_of, fold, false), items_of(fold_of, fold, true),
                              found.seconds));
  Grid errors(tasks, models.size());
  for (size_t i = 0; i < errors.values.size(); ++i)
    errors.values[i] = std::log(found.seconds.values[i] / table.seconds.values[i]);
  for (size_t fold = 0; fold < folds; ++fold)
    widen(errors, items_of(fold_of, fold, false), items_of(fold_of, fold, true), found.widths);
  return found;
}

std::vector<Judged> judged(const Table& table, const Validation& found) {
  std::vector<Judged> all;
  for_each_told(table, found, [&](size_t task, size_t item) {
    all.push_back({found.seconds.at(task, item), table.seconds.at(task, item)});
  });
  return all;
}

std::vector<Interval> intervals(const Table& table, const Validation& found) {
  std::vector<Interval> all;
  for_each_told(table, found, [&](size_t task, size_t item) {
    const double told = found.seconds.at(task, item);
    const double factor = std::exp(found.widths.at(task, item));
    all.push_back({told / factor, told * factor, table.seconds.at(task, item)});
  });
  return all;
}

std::vector<std::vector<Judged>> choices(const Table& table, const Validation& found,
                                         std::span<const size_t> tasks) {
  std::vector<std::vector<Judged>> all;
  for (size_t item = 0; item < table.items.size(); ++item) {
    std::vector<Judged> choice;
    for (const size_t task : tasks)
      if (!std::isnan(table.seconds.at(task, item)) && !std::isnan(found.seconds.at(task, item)))
        choice.push_back({found.seconds.at(task, item), table.seconds.at(task, item)});
    if (choice.size() == tasks.size()) all.push_back(std::move(choice));
  }
  return all;
}

}  // namespace assay::predict
