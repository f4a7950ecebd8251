// SPDX-License-Identifier: Apache-2.0
#include "processes.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <assay/predict/new_device.h>

namespace assay::predict {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Items = std::vector<Index>;

constexpr double kNoise = 0.002;
constexpr double kBeliefCounts = 10;  ///< devices that the belief counts for
constexpr double kLevel = 1;          ///< variance of a device's speed as a whole
constexpr double kKindLevel = 0.1;
constexpr double kSmooth = 0.15;
constexpr double kFreedom = 4;
constexpr double kNoiseCounts = 8;  ///< runs that the usual noise counts for
constexpr int kRobustRounds = 6;

MatrixXd standardized(const Grid& grid) {
  MatrixXd found(static_cast<Index>(grid.rows), static_cast<Index>(grid.columns));
  for (size_t row = 0; row < grid.rows; ++row)
    for (size_t column = 0; column < grid.columns; ++column)
      found(static_cast<Index>(row), static_cast<Index>(column)) = grid.at(row, column);
  found.rowwise() -= found.colwise().mean().eval();
  for (Index column = 0; column < found.cols(); ++column) {
    const double deviation =
        std::sqrt(found.col(column).squaredNorm() / static_cast<double>(found.rows()));
    if (deviation > 1e-9) found.col(column) /= deviation;
  }
  return found;
}

MatrixXd believed_covariance(const KnownDevices& known, const Belief& belief) {
  const MatrixXd features = standardized(known.features);
  const MatrixXd products = features * features.transpose();
  const size_t kinds = std::set<std::string>(known.kinds.begin(), known.kinds.end()).size();
  const double apart = kinds > 1 ? -1.0 / static_cast<double>(kinds - 1) : 0;
  MatrixXd found(products.rows(), products.cols());
  for (Index a = 0; a < found.rows(); ++a) {
    for (Index b = 0; b < found.cols(); ++b) {
      const bool same = known.kinds[static_cast<size_t>(a)] == known.kinds[static_cast<size_t>(b)];
      const double squared = std::max(0.0, products(a, a) + products(b, b) - 2 * products(a, b));
      const double far = std::sqrt(5 * squared) * belief.inverse_length;
      const double smooth = kSmooth * (1 + far + far * far / 3) * std::exp(-far);
      found(a, b) = kLevel + kKindLevel * (same ? 1 : apart) +
                    belief.linear * products(a, b) / static_cast<double>(features.cols()) +
                    smooth * (same ? 1 : belief.shared);
    }
  }
  return found;
}

/// Devices that measured the same items: what follows from them is computed once.
struct Alike {
  Items items;
  std::vector<size_t> devices;
};
std::vector<Alike> alike_devices(const Grid& log_times) {
  std::map<Items, std::vector<size_t>> found;
  for (size_t device = 0; device < log_times.rows; ++device) {
    Items items;
    for (size_t item = 0; item < log_times.columns; ++item)
      if (!std::isnan(log_times.at(device, item))) items.push_back(static_cast<Index>(item));
    if (!items.empty()) found[items].push_back(device);
  }
  std::vector<Alike> all;
  for (auto& [items, devices] : found) all.push_back({items, devices});
  return all;
}

/// What all items gain from knowing some: all x some.
MatrixXd gain_of(const MatrixXd& covariance, const Items& items) {
  MatrixXd some = covariance(items, items);
  some.diagonal().array() += kNoise;
  const MatrixXd rows = covariance(items, Eigen::all);
  return some.llt().solve(rows).transpose();
}

/// What an item takes on the whole that no device has measured follows from the features of those
/// that were measured; how unsure that is belongs to the item alone.
void tell_unmeasured(const Grid& features, const Items& measured, VectorXd& mean,
                     MatrixXd& covariance) {
  Items missing;
  for (Index item = 0; item < mean.size(); ++item)
    if (!std::binary_search(measured.begin(), measured.end(), item)) missing.push_back(item);
  if (missing.empty() || measured.size() < 2) return;
  const Values items = standardized(features);
  Values means = Values::Constant(1, mean.size(), std::numeric_limits<double>::quiet_NaN());
  for (const Index item : measured) means(0, item) = mean[item];
  const Kernel kernel = likely_kernel(items, means);
  const MatrixXd alike = kernel_of(kernel, items, items);
  MatrixXd known = alike(measured, measured);
  known.diagonal().array() += kernel.noise;
  const MatrixXd towards = alike(missing, measured);
  const MatrixXd gain = known.llt().solve(towards.transpose()).transpose();
  const double centre = mean(measured).mean();
  const VectorXd told = gain * (mean(measured).array() - centre).matrix();
  const VectorXd gained = gain.cwiseProduct(towards).rowwise().sum();
  for (size_t i = 0; i < missing.size(); ++i) {
    const Index item = missing[i];
    const auto row = static_cast<Index>(i);
    mean[item] = centre + told[row];
    covariance(item, item) += std::max(0.0, alike(item, item) - gained[row]) + kernel.noise;
  }
}

/// Expectation and maximization in turn.
class Estimate {
 public:
  Estimate(const KnownDevices& known, const Belief& belief)
      : times_(known.log_times),
        alike_(alike_devices(known.log_times)),
        believed_(believed_covariance(known, belief)),
        covariance_(believed_) {
    first_mean();
  }

  void step() {
    const Index items = covariance_.rows();
    MatrixXd expected(static_cast<Index>(device_count()), items);
    MatrixXd doubt = MatrixXd::Zero(items, items);
    Index row = 0;
    for (const auto& alike : alike_) {
      const MatrixXd gain = gain_of(covariance_, alike.items);
      const MatrixXd rest = covariance_ - gain * covariance_(alike.items, Eigen::all);
      doubt += static_cast<double>(alike.devices.size()) * rest;
      for (const size_t device : alike.devices)
        expected.row(row++) = (mean_ + gain * off_mean(device, alike.items)).transpose();
    }
    mean_ = expected.colwise().mean().transpose();
    expected.rowwise() -= mean_.transpose();
    const auto count = static_cast<double>(expected.rows());
    covariance_ = (expected.transpose() * expected + doubt + kBeliefCounts * believed_) /
                  (count + kBeliefCounts);
  }

  Together result(const Grid& features) {
    std::set<Index> measured;
    for (const auto& alike : alike_) measured.insert(alike.items.begin(), alike.items.end());
    tell_unmeasured(features, {measured.begin(), measured.end()}, mean_, covariance_);
    Together found{{mean_.begin(), mean_.end()}, Grid(times_.columns, times_.columns)};
    std::copy(covariance_.data(), covariance_.data() + covariance_.size(),
              found.covariance.values.begin());
    return found;
  }

 private:
  size_t device_count() const {
    size_t count = 0;
    for (const auto& alike : alike_) count += alike.devices.size();
    return count;
  }
  VectorXd off_mean(size_t device, const Items& items) const {
    VectorXd found(static_cast<Index>(items.size()));
    for (size_t i = 0; i < items.size(); ++i)
      found[static_cast<Index>(i)] =
          times_.at(device, static_cast<size_t>(items[i])) - mean_[items[i]];
    return found;
  }
  /// The mean level of devices, and each item's mean distance from its devices' levels.
  void first_mean() {
    mean_ = VectorXd::Zero(static_cast<Index>(times_.columns));
    VectorXd counts = mean_;
    double level_sum = 0;
    for (const auto& alike : alike_) {
      for (const size_t device : alike.devices) {
        double level = 0;
        for (const Index item : alike.items)
          level += times_.at(device, static_cast<size_t>(item)) /
                   static_cast<double>(alike.items.size());
        level_sum += level;
        for (const Index item : alike.items) {
          mean_[item] += times_.at(device, static_cast<size_t>(item)) - level;
          counts[item] += 1;
        }
      }
    }
    const auto devices = static_cast<double>(std::max<size_t>(device_count(), 1));
    mean_ = (mean_.array() / counts.array().max(1) + level_sum / devices).matrix();
  }

  const Grid& times_;
  std::vector<Alike> alike_;
  MatrixXd believed_;
  MatrixXd covariance_;
  VectorXd mean_;
};

MatrixXd matrix_of(const Grid& grid) {
  return Eigen::Map<const MatrixXd>(grid.values.data(), static_cast<Index>(grid.rows),
                                    static_cast<Index>(grid.columns));
}

}  // namespace

Together learn_together(const KnownDevices& known, const Belief& belief, int rounds) {
  Estimate estimate(known, belief);
  for (int round = 0; round < rounds; ++round) estimate.step();
  return estimate.result(known.features);
}

Told tell_new_device(const Together& together, std::span<const MeasuredRun> runs) {
  const MatrixXd covariance = matrix_of(together.covariance);
  const Eigen::Map<const VectorXd> mean(together.mean.data(),
                                        static_cast<Index>(together.mean.size()));
  Items items;
  VectorXd off(static_cast<Index>(runs.size()));
  for (const MeasuredRun& run : runs) {
    off[static_cast<Index>(items.size())] = run.log_time - together.mean[run.item];
    items.push_back(static_cast<Index>(run.item));
  }
  const MatrixXd measured = covariance(items, items);
  const MatrixXd towards = covariance(Eigen::all, items);
  VectorXd told = mean + gain_of(covariance, items) * off;  // with the usual noise
  Eigen::ArrayXd say = Eigen::ArrayXd::Ones(off.size());
  double noise = kNoise;
  MatrixXd inverse;
  for (int round = 0; round < kRobustRounds; ++round) {
    const Eigen::ArrayXd noises = noise / say;
    MatrixXd with_noise = measured;
    with_noise.diagonal() += noises.matrix();
    inverse = with_noise.llt().solve(MatrixXd::Identity(off.size(), off.size()));
    const Eigen::ArrayXd left = noises * (inverse * off).array();
    const Eigen::ArrayXd doubt = noises - noises.square() * inverse.diagonal().array();
    const Eigen::ArrayXd squares = left.square() + doubt.max(0);
    noise = ((say * squares).sum() + kNoiseCounts * kNoise) /
            (static_cast<double>(off.size()) + kNoiseCounts);
    say = (kFreedom + 1) / (kFreedom + squares / noise);
  }
  const MatrixXd gain = towards * inverse;
  told = (told + mean + gain * off) / 2;  // runs far off have less say in the second
  const VectorXd known = gain.cwiseProduct(towards).rowwise().sum();
  const VectorXd variances = (covariance.diagonal() - known).cwiseMax(0);
  const VectorXd deviations = (variances.array() + noise).sqrt();
  return {{told.begin(), told.end()}, {deviations.begin(), deviations.end()}};
}

std::vector<size_t> choose_runs(const Together& together, std::span<const size_t> candidates,
                                size_t count) {
  Items items;
  for (const size_t candidate : candidates) items.push_back(static_cast<Index>(candidate));
  MatrixXd unknown = matrix_of(together.covariance)(items, items);
  std::vector<size_t> chosen;
  std::vector<bool> taken(items.size());
  while (chosen.size() < std::min(count, candidates.size())) {
    Index best = -1;
    double most = -1;
    for (Index i = 0; i < unknown.cols(); ++i) {
      const double gain = unknown.col(i).squaredNorm() / (unknown(i, i) + kNoise);
      if (taken[static_cast<size_t>(i)] || gain <= most) continue;
      best = i;
      most = gain;
    }
    if (best < 0) break;
    taken[static_cast<size_t>(best)] = true;
    chosen.push_back(candidates[static_cast<size_t>(best)]);
    const VectorXd column = unknown.col(best);
    unknown -= column * column.transpose() / (column[best] + kNoise);
  }
  return chosen;
}

}  // namespace assay::predict
