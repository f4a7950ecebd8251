// SPDX-License-Identifier: Apache-2.0
#include "processes.h"

#include <Eigen/Cholesky>
#include <array>
#include <cmath>
#include <vector>

namespace assay::predict {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using Point = std::array<double, 4>;  ///< logarithms of a kernel's parameters

constexpr double kConstant = 10;
constexpr Index kMostTasks = 20;
constexpr double kBeliefVariance = 4;
constexpr std::array<double, 3> kSteps = {1.5, 0.7, 0.3};
constexpr int kRoundsPerStep = 4;
constexpr double kGain = 1e-3;
const double kLowest = std::log(1e-6);
const double kHighest = std::log(20);

Point point_of(const Kernel& kernel) {
  return {std::log(kernel.linear), std::log(kernel.smooth), std::log(kernel.noise),
          std::log(kernel.inverse_length)};
}
Kernel kernel_at(const Point& point) {
  return {std::exp(point[0]), std::exp(point[1]), std::exp(point[2]), std::exp(point[3])};
}

MatrixXd squared_distances(const Values& a, const Values& b) {
  MatrixXd found = -2 * a * b.transpose();
  found.colwise() += a.rowwise().squaredNorm();
  found.rowwise() += b.rowwise().squaredNorm().transpose();
  return found.cwiseMax(0);
}

MatrixXd kernel_from(const Kernel& kernel, const MatrixXd& products, const MatrixXd& distances) {
  const Eigen::ArrayXXd far = (5 * distances.array()).sqrt() * kernel.inverse_length;
  return (kConstant + kernel.linear * products.array() +
          kernel.smooth * (1 + far + far.square() / 3) * (-far).exp())
      .matrix();
}

struct Task {
  std::vector<Index> items;
  VectorXd values;
};

class Search {
 public:
  Search(const Values& items, const Values& tasks)
      : products_(items * items.transpose()), distances_(squared_distances(items, items)) {
    const Index step = (tasks.rows() + kMostTasks - 1) / kMostTasks;
    for (Index task = 0; task < tasks.rows(); task += step) add(tasks.row(task));
    cost_ = cost_of(point_);
  }

  Kernel run() {
    for (const double step : kSteps)
      for (int round = 0; round < kRoundsPerStep; ++round)
        if (!improve(step)) break;
    return kernel_at(point_);
  }

 private:
  void add(const Eigen::Ref<const Eigen::RowVectorXd>& row) {
    Task task;
    for (Index item = 0; item < row.size(); ++item)
      if (!std::isnan(row[item])) task.items.push_back(item);
    if (task.items.size() < 2) return;
    const Eigen::RowVectorXd known = row(task.items);
    task.values = (known.array() - known.mean()).matrix().transpose();
    tasks_.push_back(std::move(task));
  }

  /// The smaller the likelier.
  double cost_of(const Point& point) const {
    const Kernel kernel = kernel_at(point);
    const MatrixXd all = kernel_from(kernel, products_, distances_);
    double cost = 0;
    for (const auto& task : tasks_) {
      MatrixXd part = all(task.items, task.items);
      part.diagonal().array() += kernel.noise;
      const Eigen::LLT<MatrixXd> solver(part);
      const VectorXd solved = solver.matrixL().solve(task.values);
      cost += solved.squaredNorm() / 2 + solver.matrixLLT().diagonal().array().log().sum();
    }
    for (size_t i = 0; i < point.size(); ++i)
      cost += (point[i] - usual_[i]) * (point[i] - usual_[i]) / (2 * kBeliefVariance);
    return cost;
  }

  bool improve(double step) {
    bool improved = false;
    for (size_t i = 0; i < point_.size(); ++i)
      for (const double way : {step, -step})
        while (try_move(i, way)) improved = true;
    return improved;
  }
  bool try_move(size_t parameter, double by) {
    Point moved = point_;
    moved[parameter] += by;
    if (moved[parameter] < kLowest || moved[parameter] > kHighest) return false;
    const double cost = cost_of(moved);
    if (!(cost < cost_ - kGain)) return false;
    point_ = moved;
    cost_ = cost;
    return true;
  }

  MatrixXd products_;
  MatrixXd distances_;
  std::vector<Task> tasks_;
  Point usual_ = point_of(Kernel());
  Point point_ = usual_;
  double cost_ = 0;
};

}  // namespace

MatrixXd kernel_of(const Kernel& kernel, const Values& a, const Values& b) {
  return kernel_from(kernel, a * b.transpose(), squared_distances(a, b));
}

Kernel likely_kernel(const Values& items, const Values& tasks) {
  return Search(items, tasks).run();
}

}  // namespace assay::predict
