// SPDX-License-Identifier: Apache-2.0
#include "additive.h"

#include "statistics.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace assay::predict {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kRounds = 3;
constexpr double kShortest = 0.2;      ///< of the median: shorter times have no more say than that
constexpr double kBearable = 1.5;      ///< deviations with full say
constexpr double kDeviation = 1.4826;  ///< of a normal distribution, by its median
constexpr double kLeastDeviation = 1e-9;
constexpr double kLeastShare = 0.9;  ///< of the shortest time

/// Costs from zero to one around their means, and a column of ones before them.
struct Scaled {
  MatrixXd costs;
  VectorXd means;
  VectorXd scales;
};
Scaled scaled_of(const Grid& grid) {
  const auto rows = static_cast<Index>(grid.rows);
  const auto columns = static_cast<Index>(grid.columns);
  Scaled found{MatrixXd::Ones(rows, columns + 1), VectorXd(columns), VectorXd(columns)};
  for (Index column = 0; column < columns; ++column) {
    auto values = found.costs.col(column + 1);
    for (Index row = 0; row < rows; ++row)
      values[row] = grid.at(static_cast<size_t>(row), static_cast<size_t>(column));
    const double largest = values.cwiseAbs().maxCoeff();
    found.means[column] = values.mean();
    found.scales[column] = largest > 0 ? largest : 1;
    values = (values.array() - found.means[column]) / found.scales[column];
  }
  return found;
}

VectorXd solve(const MatrixXd& costs, const VectorXd& seconds, const VectorXd& weights,
               double ridge) {
  const MatrixXd weighted = weights.asDiagonal() * costs;
  MatrixXd gram = weighted.transpose() * weighted;
  gram.diagonal().tail(gram.rows() - 1).array() += ridge;
  return gram.ldlt().solve(weighted.transpose() * weights.cwiseProduct(seconds));
}

VectorXd say_of(const Eigen::ArrayXd& off) {
  const Eigen::ArrayXd sizes = off.abs();
  const double usual = kDeviation * median({sizes.begin(), sizes.end()}) + kLeastDeviation;
  return (1 / (sizes / (kBearable * usual)).max(1)).sqrt().matrix();
}

}  // namespace

Additive fit_additive(const Grid& costs, std::span<const double> seconds, double ridge) {
  const Eigen::Map<const VectorXd> times(seconds.data(), static_cast<Index>(seconds.size()));
  const Scaled scaled = scaled_of(costs);
  const double shortest = kShortest * median({seconds.begin(), seconds.end()});
  const VectorXd weights = times.cwiseMax(shortest).cwiseInverse();
  const double drawn =
      ridge * static_cast<double>(seconds.size()) * weights.mean() * weights.mean();
  VectorXd say = VectorXd::Ones(times.size());
  VectorXd found;
  for (int round = 0; round < kRounds; ++round) {
    found = solve(scaled.costs, times, weights.cwiseProduct(say), drawn);
    say = say_of((times - scaled.costs * found).cwiseProduct(weights));
  }
  found.tail(found.size() - 1).array() /= scaled.scales.array();
  found[0] -= found.tail(found.size() - 1).dot(scaled.means);
  return {{found.begin(), found.end()}, kLeastShare * times.minCoeff()};
}

double seconds_of(const Additive& additive, std::span<const double> costs) {
  double seconds = additive.coefficients[0];
  for (size_t i = 0; i < costs.size(); ++i) seconds += additive.coefficients[i + 1] * costs[i];
  return std::max(seconds, additive.least);
}

}  // namespace assay::predict
