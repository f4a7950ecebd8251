// SPDX-License-Identifier: Apache-2.0
#include "base_costs.h"

#include "statistics.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace assay::predict {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRidge = 1e-3;
constexpr int kRounds = 4;
constexpr double kBearable = 1.5;      ///< deviations with full say
constexpr double kDeviation = 1.4826;  ///< of a normal distribution, by its median
constexpr double kLeastDeviation = 1e-3;
constexpr double kLeastSeconds = 1e-9;

/// Solves for the columns that are free; the others are zero.
VectorXd solve_free(const MatrixXd& gram, const VectorXd& right, const std::vector<Index>& free) {
  VectorXd all = VectorXd::Zero(right.size());
  const MatrixXd part = gram(free, free);
  const VectorXd solved = part.ldlt().solve(right(free));
  for (size_t i = 0; i < free.size(); ++i) all[free[i]] = solved[static_cast<Index>(i)];
  return all;
}

/// Goes from `x` towards `wanted` until the first of the free columns is zero, and holds it there.
VectorXd step_to_edge(const VectorXd& x, const VectorXd& wanted, std::vector<Index>& free) {
  double step = 1;
  for (const Index i : free)
    if (wanted[i] <= 0) step = std::min(step, x[i] / (x[i] - wanted[i]));
  VectorXd moved = x + step * (wanted - x);
  std::erase_if(free, [&](Index i) {
    if (moved[i] > 1e-14 || wanted[i] > 0) return false;
    moved[i] = 0;
    return true;
  });
  return moved;
}

/// Lawson and Hanson's active sets, on the normal equations.
VectorXd solve_above_zero(const MatrixXd& gram, const VectorXd& right) {
  VectorXd x = VectorXd::Zero(right.size());
  std::vector<Index> free;
  const double tolerance = 1e-10 * std::max(1e-300, right.cwiseAbs().maxCoeff());
  for (Index turn = 0; turn < 3 * right.size(); ++turn) {
    VectorXd slope = right - gram * x;
    for (const Index i : free) slope[i] = 0;
    Index best = 0;
    if (slope.maxCoeff(&best) <= tolerance) break;
    free.push_back(best);
    for (;;) {
      const VectorXd wanted = solve_free(gram, right, free);
      const bool inside =
          std::all_of(free.begin(), free.end(), [&](Index i) { return wanted[i] > 0; });
      if (inside) {
        x = wanted;
        break;
      }
      x = step_to_edge(x, wanted, free);
      if (free.empty()) break;
    }
  }
  return x;
}

/// What was measured of one task: costs with a constant before them, and times.
struct Measured {
  MatrixXd costs;
  VectorXd seconds;
  VectorXd scales;  ///< the largest of each column
};

Measured measured_of(const Grid& costs, std::span<const double> log_times) {
  std::vector<size_t> items;
  for (size_t item = 0; item < log_times.size(); ++item)
    if (!std::isnan(log_times[item])) items.push_back(item);
  const auto rows = static_cast<Index>(items.size());
  const auto columns = static_cast<Index>(costs.columns) + 1;
  Measured found{MatrixXd::Ones(rows, columns), VectorXd(rows), VectorXd::Ones(columns)};
  for (Index row = 0; row < rows; ++row) {
    const size_t item = items[static_cast<size_t>(row)];
    found.seconds[row] = std::exp(log_times[item]);
    for (size_t cost = 0; cost < costs.columns; ++cost)
      found.costs(row, static_cast<Index>(cost) + 1) = costs.at(item, cost);
  }
  for (Index column = 0; column < columns; ++column) {
    const double largest = rows > 0 ? found.costs.col(column).maxCoeff() : 0;
    if (largest > 0) found.scales[column] = largest;
    found.costs.col(column) /= found.scales[column];
  }
  return found;
}

/// How much say each row has, by how far off it is.
VectorXd say_of(const VectorXd& estimates, const VectorXd& seconds) {
  std::vector<double> off;
  for (Index i = 0; i < seconds.size(); ++i)
    off.push_back(std::abs(std::log(std::max(estimates[i], kLeastSeconds) / seconds[i])));
  const double deviation = kDeviation * median(off) + kLeastDeviation;
  VectorXd say(seconds.size());
  for (Index i = 0; i < seconds.size(); ++i)
    say[i] = std::sqrt(1 / std::max(1.0, off[static_cast<size_t>(i)] / (kBearable * deviation)));
  return say;
}

}  // namespace

std::vector<double> least_squares_above_zero(const Grid& gram, std::span<const double> right) {
  const auto size = static_cast<Index>(right.size());
  const Eigen::Map<const MatrixXd> matrix(gram.values.data(), size, size);
  const VectorXd found = solve_above_zero(matrix, Eigen::Map<const VectorXd>(right.data(), size));
  return {found.data(), found.data() + found.size()};
}

std::vector<double> fit_base(const Grid& costs, std::span<const double> log_times) {
  const Measured measured = measured_of(costs, log_times);
  const Index rows = measured.seconds.size();
  if (rows == 0) return std::vector<double>(costs.columns + 1);
  const VectorXd weights = measured.seconds.cwiseInverse();
  const double ridge =
      kRidge * kRidge * static_cast<double>(rows) * weights.mean() * weights.mean();
  VectorXd say = VectorXd::Ones(rows);
  VectorXd found;
  for (int round = 0; round < kRounds; ++round) {
    const VectorXd row_weights = weights.cwiseProduct(say);
    const MatrixXd weighted = row_weights.asDiagonal() * measured.costs;
    MatrixXd gram = weighted.transpose() * weighted;
    gram.diagonal().array() += ridge;
    found = solve_above_zero(gram, weighted.transpose() * say);
    say = say_of(measured.costs * found, measured.seconds);
  }
  found = found.cwiseQuotient(measured.scales);
  return {found.data(), found.data() + found.size()};
}

double base_of(std::span<const double> coefficients, std::span<const double> costs) {
  double seconds = coefficients[0];
  for (size_t i = 0; i < costs.size(); ++i) seconds += coefficients[i + 1] * costs[i];
  return std::log(std::max(seconds, kLeastSeconds));
}

}  // namespace assay::predict
