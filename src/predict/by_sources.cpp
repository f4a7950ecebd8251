// SPDX-License-Identifier: Apache-2.0
#include "by_sources.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>

namespace assay::predict {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Values = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kConstant = 10;
constexpr std::array<double, 6> kNoises = {1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2};
constexpr double kLeastShare = 0.01;

Eigen::Map<const Values> values_of(const Grid& grid) {
  return {grid.values.data(), static_cast<Index>(grid.rows), static_cast<Index>(grid.columns)};
}

/// How alike all items are to those that were run, all x runs.
MatrixXd alike(const Grid& sources, const Grid& features, const Mix& mix,
               const std::vector<Index>& items) {
  Values relative = values_of(sources);
  relative = relative.rowwise().mean().cwiseInverse().eval().asDiagonal() * relative;
  relative.array() -= 1;
  const auto& shape = values_of(features);
  const double by_source = mix.sources / static_cast<double>(std::max<Index>(relative.rows(), 1));
  const double by_feature = mix.features / static_cast<double>(std::max<Index>(shape.cols(), 1));
  const MatrixXd runs = relative(Eigen::all, items);
  const MatrixXd run_shape = shape(items, Eigen::all);
  return (by_source * relative.transpose() * runs + by_feature * shape * run_shape.transpose())
             .array() +
         kConstant;
}

/// The weights of the runs, averaged over sizes of noise by how likely each makes the values.
VectorXd weights_of(const MatrixXd& kernel, const VectorXd& values) {
  std::vector<VectorXd> solved;
  std::vector<double> likelihoods;
  for (const double noise : kNoises) {
    MatrixXd with_noise = kernel;
    with_noise.diagonal().array() += noise;
    const Eigen::LLT<MatrixXd> solver(with_noise);
    solved.emplace_back(solver.solve(values));
    likelihoods.push_back(-values.dot(solved.back()) / 2 -
                          solver.matrixLLT().diagonal().array().log().sum());
  }
  const double best = *std::max_element(likelihoods.begin(), likelihoods.end());
  VectorXd sum = VectorXd::Zero(values.size());
  double whole = 0;
  for (size_t i = 0; i < solved.size(); ++i) {
    const double share = std::exp(likelihoods[i] - best);
    sum += share * solved[i];
    whole += share;
  }
  return sum / whole;
}

}  // namespace

std::vector<double> tell_by_sources(const Grid& sources, const Grid& features, const Mix& mix,
                                    std::span<const SecondsOf> runs) {
  std::vector<Index> items;
  VectorXd seconds(static_cast<Index>(runs.size()));
  for (const SecondsOf& run : runs) {
    seconds[static_cast<Index>(items.size())] = run.seconds;
    items.push_back(static_cast<Index>(run.item));
  }
  const double mean = seconds.mean();
  const MatrixXd kernel = alike(sources, features, mix, items);
  const VectorXd weights =
      weights_of(kernel(items, Eigen::all), (seconds.array() / mean - 1).matrix());
  const VectorXd told = ((kernel * weights).array() + 1).max(kLeastShare) * mean;
  return {told.begin(), told.end()};
}

}  // namespace assay::predict
