// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <assay/base/result.h>
#include <assay/predict/grid.h>

namespace assay::predict {

/// What is learned from: every task's times for items whose features and costs are known.
struct Lesson {
  Grid features;   ///< items x features
  Grid costs;      ///< items x costs, none below zero; may have no columns
  Grid log_times;  ///< tasks x items: logarithms of seconds; NaN where nothing was measured
};

/// How alike the times of two items are: by a constant, a linear part, and a smooth part that
/// fades with distance (a Matérn kernel of order 5/2). `noise` is the variance of a measurement.
struct Kernel {
  double linear = 0.05;
  double smooth = 0.3;
  double noise = 0.002;
  std::vector<double> inverse_lengths;  ///< how soon it fades, for each feature
};

/// A Gaussian process for each task: its answer is centre + k(x, items) · weights.
struct Process {
  Kernel kernel;
  Grid weights;  ///< tasks x items
  std::vector<double> centres;
};

/// All that is needed to tell times: the mean of one process on the logarithms of times and one on
/// what they are above an additive estimate of the costs (the base).
struct Learned {
  std::vector<double> means;   ///< of features
  std::vector<double> scales;  ///< of features
  Grid items;                  ///< standardized features of what was learned from
  Grid base;                   ///< tasks x (1 + costs): seconds for each unit of cost
  Process plain;
  Process on_base;
};

/// What comes before the processes: means and scales of features, standard items, and the base.
Learned prepare(const Lesson& lesson);
Grid standard_features(const Learned& learned, const Grid& features);

/// Learns from all measured times; a few that are far off their neighbours have little say. Each
/// task needs at least two, and there may be at most kMostItems items: the time it takes grows with
/// their cube. Kernels are found by `searched` of them, which takes most of the time.
constexpr size_t kMostItems = 1500;
constexpr size_t kSearched = 200;
Result<Learned> learn(const Lesson& lesson, size_t searched = kSearched);

/// The logarithms of seconds, tasks x items, for items of which nothing was measured. A feature
/// that is NaN counts as usual. The further an item lies outside of what was learned from, the more
/// the base alone is believed.
Grid tell(const Learned& learned, const Grid& features, const Grid& costs);

}  // namespace assay::predict
