// SPDX-License-Identifier: Apache-2.0
#include "boost_losses.h"

#include <algorithm>
#include <cmath>

namespace assay::predict {
namespace {

constexpr double kLowest = -2;  ///< logarithms beyond these are not told apart
constexpr double kHighest = 1;
constexpr double kLeastSecond = 0.05;

}  // namespace

Gradient log_loss(std::span<const double> labels, double bend) {
  return [=](std::span<const float> told, std::span<float> first, std::span<float> second) {
    for (size_t i = 0; i < told.size(); ++i) {
      const double off = static_cast<double>(told[i]) - labels[i];
      const double root = std::sqrt(1 + off * off / (bend * bend));
      first[i] = static_cast<float>(off / root);
      second[i] = static_cast<float>(1 / root);
    }
  };
}

Gradient relative_loss(std::span<const double> labels, double scale, double bend) {
  return [=](std::span<const float> told, std::span<float> first, std::span<float> second) {
    for (size_t i = 0; i < told.size(); ++i) {
      const double off = static_cast<double>(told[i]) - labels[i];
      const double ratio = std::exp(std::clamp(scale * off, kLowest, kHighest));
      const double relative = (ratio - 1) / scale;
      const double root = std::sqrt(1 + relative * relative / (bend * bend));
      first[i] = static_cast<float>(relative / root * ratio);
      second[i] = static_cast<float>(std::max(ratio * ratio / root, kLeastSecond));
    }
  };
}

}  // namespace assay::predict
