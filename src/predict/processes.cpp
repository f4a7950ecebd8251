// SPDX-License-Identifier: Apache-2.0
#include "processes.h"

#include "statistics.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>

namespace assay::predict {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::array<double, 14> kNoises = {.03, .05, .1, .2, .35, .6, 1,
                                            1.7, 3,   5,  10, 20,  40, 80};
constexpr double kFreedom = 4;  ///< of Student's t, by which measurements scatter
constexpr int kRobustRounds = 6;
constexpr double kLeastNoise = 1e-6;
constexpr double kLeastFactorNoise = 1e-4;
constexpr int kFactorPasses = 2;
constexpr int kStrengths = 28;
const double kWeakest = std::log(1e-3);
const double kStrongest = std::log(1e6);

struct Known {
  std::vector<Index> items;
  VectorXd values;
};
Known known_of(const Eigen::Ref<const Eigen::RowVectorXd>& row) {
  Known known;
  for (Index item = 0; item < row.size(); ++item)
    if (!std::isnan(row[item])) known.items.push_back(item);
  known.values = row(known.items).transpose();
  return known;
}

double log_likelihood(const VectorXd& projected, const Eigen::ArrayXd& variances) {
  const Eigen::ArrayXd safe = variances.max(1e-12);
  return -0.5 * (projected.array().square() / safe + safe.log()).sum();
}

/// One task by itself.
struct TaskFit {
  VectorXd weights;  ///< of the items that are known
  double centre = 0;
  double noise = 0;
  VectorXd say;  ///< 1 is usual; less for values far off
};

/// With normal noise, whose size is the likeliest of a few.
TaskFit plain_fit(const MatrixXd& kernel, const VectorXd& values, double usual_noise,
                  double centre) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> parts(kernel);
  const VectorXd projected = parts.eigenvectors().transpose() * (values.array() - centre).matrix();
  TaskFit fit{{}, centre, 0, VectorXd::Ones(values.size())};
  double best = -HUGE_VAL;
  for (const double times : kNoises) {
    const double found =
        log_likelihood(projected, parts.eigenvalues().array() + usual_noise * times);
    if (found <= best) continue;
    best = found;
    fit.noise = usual_noise * times;
  }
  const Eigen::ArrayXd variances = (parts.eigenvalues().array() + fit.noise).max(1e-12);
  fit.weights = parts.eigenvectors() * (projected.array() / variances).matrix();
  return fit;
}

/// With noise as Student's t: rounds of weighing each value by how far off it was.
TaskFit robust_fit(const MatrixXd& kernel, const VectorXd& values, double usual_noise) {
  const std::vector<double> all(values.begin(), values.end());
  TaskFit fit = plain_fit(kernel, values, usual_noise, median(all));
  const VectorXd centred = values.array() - fit.centre;
  for (int round = 0; round < kRobustRounds; ++round) {
    const Eigen::ArrayXd noises = fit.noise / fit.say.array();
    MatrixXd covariance = kernel;
    covariance.diagonal() += noises.matrix();
    const MatrixXd inverse =
        covariance.llt().solve(MatrixXd::Identity(kernel.rows(), kernel.cols()));
    fit.weights = inverse * centred;
    const Eigen::ArrayXd off = noises * fit.weights.array();
    const Eigen::ArrayXd doubt = noises - noises.square() * inverse.diagonal().array();
    const Eigen::ArrayXd squares = off.square() + doubt.max(0);
    fit.noise = std::max((fit.say.array() * squares).mean(), kLeastNoise);
    fit.say = (kFreedom + 1) / (kFreedom + squares / fit.noise);
  }
  return fit;
}

Grid grid_of(const Values& values) {
  Grid grid(static_cast<size_t>(values.rows()), static_cast<size_t>(values.cols()));
  std::copy(values.data(), values.data() + values.size(), grid.values.begin());
  return grid;
}

/// Weights over all items and a centre for each task.
struct Fits {
  Values weights;
  VectorXd centres;
};

/// The tasks one by one. `cleaned` gets the values with those far off drawn to the fit.
Fits fit_each(const Kernel& kernel, const MatrixXd& matrix, const Values& tasks, Values& cleaned) {
  Fits fits{Values::Zero(tasks.rows(), tasks.cols()), VectorXd::Zero(tasks.rows())};
  cleaned = tasks;
  for (Index task = 0; task < tasks.rows(); ++task) {
    const Known known = known_of(tasks.row(task));
    const TaskFit fit = robust_fit(matrix(known.items, known.items), known.values, kernel.noise);
    fits.centres[task] = fit.centre;
    for (size_t i = 0; i < known.items.size(); ++i)
      fits.weights(task, known.items[i]) = fit.weights[static_cast<Index>(i)];
    const VectorXd estimates = (matrix * fits.weights.row(task).transpose()).array() + fit.centre;
    for (size_t i = 0; i < known.items.size(); ++i) {
      const Index item = known.items[i];
      const double say = std::min(fit.say[static_cast<Index>(i)], 1.0);
      cleaned(task, item) = estimates[item] + say * (tasks(task, item) - estimates[item]);
    }
  }
  return fits;
}

/// How strong one component's signal is over noise of variance 1, times the kernel.
double likely_strength(const VectorXd& projected, const Eigen::ArrayXd& eigenvalues) {
  double best = -HUGE_VAL;
  double strength = 0;
  for (int i = 0; i < kStrengths; ++i) {
    const double tried = std::exp(kWeakest + (kStrongest - kWeakest) * i / (kStrengths - 1));
    const double found = log_likelihood(projected, eigenvalues * tried + 1);
    if (found <= best) continue;
    best = found;
    strength = tried;
  }
  return strength;
}

/// What tasks have in common: their values, each in units of its noise, fall into components, and
/// each component is a process of its own. Missing values are the fit's.
class Factors {
 public:
  Factors(const Kernel& kernel, const MatrixXd& matrix, const Values& tasks)
      : matrix_(matrix), parts_(matrix), tasks_(tasks), filled_(tasks), noises_(tasks.rows()) {
    for (Index task = 0; task < tasks.rows(); ++task) fill_first(kernel, task);
  }

  Fits run() {
    Fits fits;
    for (int pass = 0; pass < kFactorPasses; ++pass) {
      fits = fit_components();
      fill(fits);
    }
    return fits;
  }

 private:
  void fill_first(const Kernel& kernel, Index task) {
    const Known known = known_of(tasks_.row(task));
    const MatrixXd part = matrix_(known.items, known.items);
    const TaskFit fit = plain_fit(part, known.values, kernel.noise, known.values.mean());
    noises_[task] = std::max(fit.noise, kLeastFactorNoise);
    for (Index item = 0; item < tasks_.cols(); ++item)
      if (std::isnan(tasks_(task, item)))
        filled_(task, item) = fit.centre + matrix_.row(item)(known.items).dot(fit.weights);
  }

  Fits fit_components() const {
    const VectorXd deviations = noises_.cwiseSqrt();
    const VectorXd centres = filled_.rowwise().mean();
    Values scaled = filled_;
    scaled.colwise() -= centres;
    scaled = deviations.cwiseInverse().asDiagonal() * scaled;
    const Eigen::SelfAdjointEigenSolver<MatrixXd> components(scaled.transpose() * scaled);
    const double largest = components.eigenvalues().tail<1>()[0];
    Fits fits{Values::Zero(filled_.rows(), filled_.cols()), centres};
    for (Index i = 0; i < components.eigenvalues().size(); ++i) {
      const double square = components.eigenvalues()[i];
      if (!(square > 1e-12 * largest)) continue;
      const VectorXd direction = components.eigenvectors().col(i);
      fits.weights += (scaled * direction) * smoothed(direction, std::sqrt(square)).transpose();
    }
    fits.weights = deviations.asDiagonal() * fits.weights;
    return fits;
  }

  /// The weights of the process for one component of that size.
  VectorXd smoothed(const VectorXd& direction, double size) const {
    const VectorXd projected = parts_.eigenvectors().transpose() * direction;
    const Eigen::ArrayXd eigenvalues = parts_.eigenvalues().array().max(0);
    const double strength = likely_strength(size * projected, eigenvalues);
    const Eigen::ArrayXd kept = strength / (eigenvalues * strength + 1);
    return parts_.eigenvectors() * (projected.array() * kept).matrix();
  }

  void fill(const Fits& fits) {
    const Values estimates = (fits.weights * matrix_).colwise() + fits.centres;
    for (Index task = 0; task < tasks_.rows(); ++task)
      for (Index item = 0; item < tasks_.cols(); ++item)
        if (std::isnan(tasks_(task, item))) filled_(task, item) = estimates(task, item);
  }

  const MatrixXd& matrix_;
  Eigen::SelfAdjointEigenSolver<MatrixXd> parts_;
  const Values& tasks_;
  Values filled_;
  VectorXd noises_;
};

}  // namespace

Process fit_process(const Kernel& kernel, const Values& items, const Values& tasks) {
  const MatrixXd matrix = kernel_of(kernel, items, items);
  Values cleaned;
  const Fits each = fit_each(kernel, matrix, tasks, cleaned);
  const Fits common = Factors(kernel, matrix, cleaned).run();
  const VectorXd centres = (each.centres + common.centres) / 2;
  return {kernel, grid_of((each.weights + common.weights) / 2), {centres.begin(), centres.end()}};
}

}  // namespace assay::predict
