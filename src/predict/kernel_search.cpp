// SPDX-License-Identifier: Apache-2.0
#include "processes.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::predict {
namespace {

using Eigen::ArrayXXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kConstant = 10;
constexpr Index kMostTasks = 20;
constexpr double kBeliefVariance = 4;
constexpr double kLengthVariance = 4;
constexpr int kSteps = 100;
constexpr double kFirstStep = 0.3;
constexpr double kLeastStep = 1e-3;
constexpr double kMostStep = 1;
constexpr double kLonger = 1.2;
constexpr double kShorter = 0.5;
const double kLowest = std::log(1e-6);
const double kHighest = std::log(20);

/// Logarithms of a kernel's parameters: linear, smooth, noise, and the features' inverse lengths.
using Point = VectorXd;
enum : Index { kLinear, kSmooth, kNoise, kLengths };

Point usual_point(Index features) {
  const Kernel usual;
  Point point = Point::Constant(kLengths + features, std::log(kUsualInverseLength));
  point.head<kLengths>() << std::log(usual.linear), std::log(usual.smooth), std::log(usual.noise);
  return point;
}
Kernel kernel_at(const Point& point) {
  const VectorXd values = point.array().exp();
  return {
      values[kLinear], values[kSmooth], values[kNoise], {values.begin() + kLengths, values.end()}};
}

/// Features in units of their lengths.
Values stretched(const Kernel& kernel, const Values& features) {
  const Eigen::Map<const Eigen::RowVectorXd> lengths(
      kernel.inverse_lengths.data(), static_cast<Index>(kernel.inverse_lengths.size()));
  return features.array().rowwise() * lengths.array();
}

/// How far apart, as Matérn's kernel wants it.
ArrayXXd far_of(const Kernel& kernel, const Values& a, const Values& b) {
  const Values from = stretched(kernel, a);
  const Values to = stretched(kernel, b);
  MatrixXd squares = -2 * from * to.transpose();
  squares.colwise() += from.rowwise().squaredNorm();
  squares.rowwise() += to.rowwise().squaredNorm().transpose();
  return (5 * squares.array().max(0)).sqrt();
}
ArrayXXd smooth_of(const ArrayXXd& far) {
  return (1 + far + far.square() / 3) * (-far).exp();
}

struct Task {
  std::vector<Index> items;
  VectorXd values;
};

class Search {
 public:
  Search(const Values& items, const Values& tasks)
      : items_(items), products_(items * items.transpose()), usual_(usual_point(items.cols())) {
    const Index step = (tasks.rows() + kMostTasks - 1) / kMostTasks;
    for (Index task = 0; task < tasks.rows(); task += step) add(tasks.row(task));
  }

  /// Follows the slope's sign in each direction, with steps that grow while it stays and shrink
  /// when it turns.
  Kernel run() {
    Point point = usual_;
    Point steps = Point::Constant(point.size(), kFirstStep);
    Point before = Point::Zero(point.size());
    Point best = point;
    double least = HUGE_VAL;
    for (int step = 0; step < kSteps; ++step) {
      Point slope;
      const double cost = cost_of(point, slope);
      if (cost < least) {
        least = cost;
        best = point;
      }
      for (Index i = 0; i < point.size(); ++i) {
        const double turn = slope[i] * before[i];
        if (turn != 0)
          steps[i] = std::clamp(steps[i] * (turn > 0 ? kLonger : kShorter), kLeastStep, kMostStep);
        if (turn < 0) slope[i] = 0;
        const double way = slope[i] > 0 ? -1 : (slope[i] < 0 ? 1 : 0);
        point[i] = std::clamp(point[i] + way * steps[i], kLowest, kHighest);
      }
      before = slope;
    }
    return kernel_at(best);
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

  /// The smaller the likelier; and how it changes with each parameter.
  double cost_of(const Point& point, Point& slope) const {
    const Kernel kernel = kernel_at(point);
    const ArrayXXd far = far_of(kernel, items_, items_);
    const ArrayXXd smooth = kernel.smooth * smooth_of(far);
    const MatrixXd all = kConstant + kernel.linear * products_.array() + smooth;
    const Point off = point - usual_;
    slope = off / kBeliefVariance;
    slope.tail(items_.cols()) = off.tail(items_.cols()) / kLengthVariance;
    double cost = off.dot(slope) / 2;
    ArrayXXd pull = ArrayXXd::Zero(all.rows(), all.cols());
    for (const auto& task : tasks_) cost += add_task(task, all, kernel.noise, pull);
    slope[kNoise] += kernel.noise * pull.matrix().trace();
    slope[kLinear] += (pull * kernel.linear * products_.array()).sum();
    slope[kSmooth] += (pull * smooth).sum();
    const ArrayXXd nearer = -5.0 / 3 * kernel.smooth * pull * (1 + far) * (-far).exp();
    for (Index feature = 0; feature < items_.cols(); ++feature) {
      const double length = kernel.inverse_lengths[static_cast<size_t>(feature)];
      slope[kLengths + feature] += length * length * spread(nearer, items_.col(feature));
    }
    return cost;
  }

  /// The sum of weights times squared differences.
  static double spread(const ArrayXXd& weights, const VectorXd& values) {
    const VectorXd squares = values.cwiseAbs2();
    const MatrixXd matrix = weights;
    return 2 * (matrix * VectorXd::Ones(values.size())).dot(squares) -
           2 * values.dot(matrix * values);
  }

  /// How unlikely the task's values are; `pull` gets how that changes with the kernel's values.
  double add_task(const Task& task, const MatrixXd& all, double noise, ArrayXXd& pull) const {
    const auto count = static_cast<Index>(task.items.size());
    MatrixXd part = all(task.items, task.items);
    part.diagonal().array() += noise;
    const Eigen::LLT<MatrixXd> solver(part);
    const MatrixXd inverse = solver.solve(MatrixXd::Identity(count, count));
    const VectorXd solved = inverse * task.values;
    const MatrixXd change = (inverse - solved * solved.transpose()) / 2;
    for (Index a = 0; a < count; ++a)
      for (Index b = 0; b < count; ++b)
        pull(task.items[static_cast<size_t>(a)], task.items[static_cast<size_t>(b)]) +=
            change(a, b);
    return task.values.dot(solved) / 2 + solver.matrixLLT().diagonal().array().log().sum();
  }

  Values items_;
  MatrixXd products_;
  Point usual_;
  std::vector<Task> tasks_;
};

}  // namespace

MatrixXd kernel_of(const Kernel& kernel, const Values& a, const Values& b) {
  return kConstant + kernel.linear * (a * b.transpose()).array() +
         kernel.smooth * smooth_of(far_of(kernel, a, b));
}

Kernel likely_kernel(const Values& items, const Values& tasks) {
  return Search(items, tasks).run();
}

}  // namespace assay::predict
