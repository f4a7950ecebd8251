// SPDX-License-Identifier: Apache-2.0
#include "idle.h"

#include "base_costs.h"
#include "boost_losses.h"
#include "booster.h"
#include "statistics.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace assay::predict {
namespace {

using Eigen::Index;

constexpr size_t kMostForProcesses = 800;  ///< beyond, validation takes too long
static_assert(kMostForProcesses <= kMostItems);
constexpr size_t kLeastForBoosting = 300;
constexpr double kRidge = 1;
constexpr double kBearable = 0.5;  ///< deviations with full say among boosted residuals
constexpr double kLeastDeviation = 1e-4;

std::vector<size_t> known_of(std::span<const double> log_times) {
  std::vector<size_t> items;
  for (size_t item = 0; item < log_times.size(); ++item)
    if (!std::isnan(log_times[item])) items.push_back(item);
  return items;
}

Grid rows_of(const Grid& grid, const std::vector<size_t>& rows) {
  Grid part(rows.size(), grid.columns);
  for (size_t row = 0; row < rows.size(); ++row)
    std::copy(grid.row(rows[row]).begin(), grid.row(rows[row]).end(),
              part.values.begin() + static_cast<ptrdiff_t>(row * grid.columns));
  return part;
}

/// A constant and one weight for each standard feature, drawn to zero.
std::vector<double> fit_line(const Grid& features, std::span<const double> log_times) {
  const auto known = known_of(log_times);
  const auto rows = static_cast<Index>(known.size());
  const auto columns = static_cast<Index>(features.columns) + 1;
  Eigen::MatrixXd x = Eigen::MatrixXd::Ones(rows, columns);
  Eigen::VectorXd y(rows);
  for (Index row = 0; row < rows; ++row) {
    const size_t item = known[static_cast<size_t>(row)];
    y[row] = log_times[item];
    for (Index column = 1; column < columns; ++column)
      x(row, column) = features.at(item, static_cast<size_t>(column - 1));
  }
  Eigen::MatrixXd gram = x.transpose() * x;
  gram.diagonal().array() += kRidge;
  gram(0, 0) -= kRidge - 1e-9;
  const Eigen::VectorXd found = gram.ldlt().solve(x.transpose() * y);
  return {found.begin(), found.end()};
}

void learn_lines(const Lesson& lesson, Idle& idle) {
  idle.linear = Grid(lesson.log_times.rows, lesson.features.columns + 1);
  for (size_t task = 0; task < lesson.log_times.rows; ++task) {
    const auto line = fit_line(idle.learned.items, lesson.log_times.row(task));
    std::copy(line.begin(), line.end(),
              idle.linear.values.begin() + static_cast<ptrdiff_t>(task * idle.linear.columns));
  }
}

/// What the base leaves, told by trees; values far off have little say.
Result<Booster> boost_rest(const Grid& features, const std::vector<double>& rest, uint64_t seed) {
  std::vector<double> sizes;
  sizes.reserve(rest.size());
  for (const double one : rest) sizes.push_back(std::abs(one));
  const double bearable = kBearable * std::max(median(std::move(sizes)), kLeastDeviation);
  return Booster::train(features, log_loss(rest, bearable),
                        {.rounds = 250, .depth = 5, .least_weight = 3, .seed = seed});
}

Result<void> learn_trees(const Lesson& lesson, uint64_t seed, Idle& idle) {
  for (size_t task = 0; task < lesson.log_times.rows; ++task) {
    const auto known = known_of(lesson.log_times.row(task));
    std::vector<double> rest;
    rest.reserve(known.size());
    for (const size_t item : known)
      rest.push_back(lesson.log_times.at(task, item) -
                     base_of(idle.learned.base.row(task), lesson.costs.row(item)));
    ASSAY_TRY(const auto booster, boost_rest(rows_of(lesson.features, known), rest, seed + task));
    ASSAY_TRY(auto text, booster.text());
    ASSAY_TRY(auto trees, Trees::parse(nlohmann::json::parse(text)));
    idle.boosters.push_back(std::move(text));
    idle.trees.push_back(std::move(trees));
  }
  return {};
}

double on_line(std::span<const double> line, std::span<const double> features) {
  double sum = line[0];
  for (size_t i = 0; i < features.size(); ++i) sum += line[i + 1] * features[i];
  return sum;
}

double by_trees(const Idle& idle, size_t task, std::span<const double> features,
                std::span<const double> costs) {
  const std::vector<float> row(features.begin(), features.end());
  return base_of(idle.learned.base.row(task), costs) + idle.trees[task].tell(row);
}

}  // namespace

std::vector<Method> methods_for(size_t items) {
  std::vector<Method> methods;
  if (items <= kMostForProcesses) methods.push_back(Method::processes);
  methods.push_back(Method::linear);
  if (items >= kLeastForBoosting) methods.push_back(Method::boosted);
  return methods;
}

Result<Idle> learn_idle(const Lesson& lesson, Method method, uint64_t seed) {
  Idle idle;
  idle.method = method;
  if (method == Method::processes) {
    ASSAY_TRY(idle.learned, learn(lesson));
    return idle;
  }
  idle.learned = prepare(lesson);
  if (method == Method::linear) {
    learn_lines(lesson, idle);
  } else {
    ASSAY_CHECK(learn_trees(lesson, seed, idle));
  }
  idle.learned.items = Grid(0, lesson.features.columns);
  return idle;
}

Result<Idle> learn_idle_by_pieces(const Runs& runs, const Lesson& lesson,
                                  const std::vector<size_t>& tasks,
                                  const std::vector<size_t>& models, const Grid& times) {
  Idle idle;
  if (models.size() <= kMostForProcesses) {
    ASSAY_TRY(idle.learned, learn(lesson));
  } else {
    idle.learned = prepare(lesson);
    idle.learned.items = Grid(0, lesson.features.columns);
  }
  idle.method = Method::pieces;
  ASSAY_TRY(idle.pieces, learn_pieces(runs, tasks, models, times));
  return idle;
}

std::vector<double> tell_idle_by_pieces(const Idle& idle, std::span<const model::Piece> pieces,
                                        const Grid& features, const Grid& costs) {
  auto logs = tell_pieces(idle.pieces, pieces, pieces);
  if (idle.learned.items.rows == 0 || idle.whole_shares.empty()) return logs;
  const Grid whole = tell(idle.learned, features, costs);
  for (size_t task = 0; task < logs.size(); ++task)
    logs[task] = std::lerp(logs[task], whole.at(task, 0), idle.whole_shares[task]);
  return logs;
}

Grid tell_idle(const Idle& idle, const Grid& features, const Grid& costs) {
  if (idle.method == Method::processes) return tell(idle.learned, features, costs);
  const bool lines = idle.method == Method::linear;
  const Grid asked = lines ? standard_features(idle.learned, features) : features;
  const size_t tasks = lines ? idle.linear.rows : idle.trees.size();
  Grid found(tasks, features.rows);
  for (size_t task = 0; task < tasks; ++task)
    for (size_t item = 0; item < features.rows; ++item)
      found.at(task, item) = lines ? on_line(idle.linear.row(task), asked.row(item))
                                   : by_trees(idle, task, asked.row(item), costs.row(item));
  return found;
}

}  // namespace assay::predict
