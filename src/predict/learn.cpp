// SPDX-License-Identifier: Apache-2.0
#include "base_costs.h"
#include "processes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/predict/learn.h>

namespace assay::predict {
namespace {

using Eigen::Index;

constexpr double kBelieved = 1;      ///< deviations of a feature beyond what was learned from
constexpr double kPlainShare = 0.5;  ///< of the process without a base

Eigen::Map<const Values> values_of(const Grid& grid) {
  return {grid.values.data(), static_cast<Index>(grid.rows), static_cast<Index>(grid.columns)};
}

void measure_features(const Grid& features, Learned& learned) {
  const auto count = static_cast<double>(features.rows);
  for (size_t column = 0; column < features.columns; ++column) {
    double mean = 0;
    for (size_t row = 0; row < features.rows; ++row) mean += features.at(row, column) / count;
    double squares = 0;
    for (size_t row = 0; row < features.rows; ++row)
      squares += (features.at(row, column) - mean) * (features.at(row, column) - mean) / count;
    learned.means.push_back(mean);
    // What never changes says nothing about a value that it did not have either.
    learned.scales.push_back(squares > 1e-18 ? std::sqrt(squares) : 0);
  }
}

/// The logarithm of the base, tasks x items.
Values base_times(const Grid& coefficients, const Grid& costs) {
  Values found(static_cast<Index>(coefficients.rows), static_cast<Index>(costs.rows));
  for (size_t task = 0; task < coefficients.rows; ++task)
    for (size_t item = 0; item < costs.rows; ++item)
      found(static_cast<Index>(task), static_cast<Index>(item)) =
          base_of(coefficients.row(task), costs.row(item));
  return found;
}

/// Some of the items are enough to find the kernel by, and all would take long.
Process fit(const Values& items, const Values& tasks, Index searched) {
  const Index step = (items.rows() + searched - 1) / searched;
  std::vector<Index> some;
  for (Index item = 0; item < items.rows(); item += step) some.push_back(item);
  const Kernel kernel = likely_kernel(items(some, Eigen::all), tasks(Eigen::all, some));
  return fit_process(kernel, items, tasks);
}

Values tell_process(const Process& process, const Values& learned_from, const Values& asked) {
  const Eigen::MatrixXd alike = kernel_of(process.kernel, learned_from, asked);
  const Eigen::Map<const Eigen::VectorXd> centres(process.centres.data(),
                                                  static_cast<Index>(process.centres.size()));
  return (values_of(process.weights) * alike).colwise() + centres;
}

bool all_finite(const Grid& grid) {
  return std::all_of(grid.values.begin(), grid.values.end(),
                     [](double value) { return std::isfinite(value); });
}

/// What the processes could make nothing of, or not in time.
Result<void> check(const Lesson& lesson) {
  const size_t items = lesson.features.rows;
  if (items > kMostItems)
    return bad_input(
        fmt::format("{} models are too many for Gaussian processes, which take {}; "
                    "trees take more",
                    items, kMostItems));
  if (!all_finite(lesson.features) || !all_finite(lesson.costs))
    return bad_input("a model has a feature or a cost that is no number");
  for (size_t task = 0; task < lesson.log_times.rows; ++task) {
    const auto times = lesson.log_times.row(task);
    if (std::any_of(times.begin(), times.end(), [](double time) { return std::isinf(time); }))
      return bad_input("a time is not above zero");
    const auto known =
        std::count_if(times.begin(), times.end(), [](double time) { return !std::isnan(time); });
    if (known < 2) return bad_input("a task has fewer than two times to learn from");
  }
  return {};
}

/// Draws what is asked to within kBelieved of what was learned from, and tells how far beyond each
/// item was: the processes know nothing of what is there, and the base is the better guide.
Eigen::ArrayXd keep_within(const Values& items, Values& asked) {
  Eigen::ArrayXd beyond = Eigen::ArrayXd::Zero(asked.rows());
  if (items.rows() == 0) return beyond;
  const Eigen::RowVectorXd lowest = items.colwise().minCoeff();
  const Eigen::RowVectorXd highest = items.colwise().maxCoeff();
  for (Index row = 0; row < asked.rows(); ++row) {
    const Eigen::RowVectorXd within = asked.row(row).cwiseMax(lowest).cwiseMin(highest);
    const Eigen::RowVectorXd off = asked.row(row) - within;
    if (off.size() > 0) beyond[row] = off.cwiseAbs().maxCoeff();
    asked.row(row) = within + off.cwiseMax(-kBelieved).cwiseMin(kBelieved);
  }
  return beyond;
}

}  // namespace

Grid standard_features(const Learned& learned, const Grid& features) {
  Grid found = features;
  for (size_t row = 0; row < found.rows; ++row) {
    for (size_t column = 0; column < found.columns; ++column) {
      double& value = found.at(row, column);
      const double scale = learned.scales[column];
      value = scale > 0 && !std::isnan(value) ? (value - learned.means[column]) / scale : 0;
    }
  }
  return found;
}

Learned prepare(const Lesson& lesson) {
  Learned learned;
  measure_features(lesson.features, learned);
  learned.items = standard_features(learned, lesson.features);
  learned.base = Grid(lesson.log_times.rows, lesson.costs.columns + 1);
  for (size_t task = 0; task < lesson.log_times.rows; ++task) {
    const auto coefficients = fit_base(lesson.costs, lesson.log_times.row(task));
    std::copy(coefficients.begin(), coefficients.end(),
              learned.base.values.begin() + static_cast<ptrdiff_t>(task * learned.base.columns));
  }
  return learned;
}

Result<Learned> learn(const Lesson& lesson, size_t searched) {
  ASSAY_CHECK(check(lesson));
  Learned learned = prepare(lesson);
  const Values items = values_of(learned.items);
  const Values times = values_of(lesson.log_times);
  const auto some = static_cast<Index>(searched);
  learned.plain = fit(items, times, some);
  learned.on_base = fit(items, times - base_times(learned.base, lesson.costs), some);
  return learned;
}

Grid tell(const Learned& learned, const Grid& features, const Grid& costs) {
  const Grid asked_grid = standard_features(learned, features);
  const Values items = values_of(learned.items);
  Values asked = values_of(asked_grid);
  const Eigen::ArrayXd beyond = keep_within(items, asked);
  const Values plain = tell_process(learned.plain, items, asked);
  const Values above = tell_process(learned.on_base, items, asked);
  const Eigen::ArrayXd share = kPlainShare / (1 + beyond.square());
  const Values told = plain * share.matrix().asDiagonal() +
                      (above + base_times(learned.base, costs)) * (1 - share).matrix().asDiagonal();
  Grid found(learned.base.rows, features.rows);
  std::copy(told.data(), told.data() + told.size(), found.values.begin());
  return found;
}

}  // namespace assay::predict
