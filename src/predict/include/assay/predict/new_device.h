// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include <assay/predict/grid.h>

namespace assay::predict {

/// What is known of other devices: their times for items.
struct KnownDevices {
  Grid features;                   ///< items x features
  std::vector<std::string> kinds;  ///< of items: precision, or all the same
  Grid log_times;                  ///< devices x items; NaN where nothing was measured
};

/// What is believed of the times of items before any are known: how much they follow features
/// linearly, how soon likeness fades with distance, and how much of it kinds share.
struct Belief {
  double linear = 0.1;
  double inverse_length = 0.15;
  double shared = 0.7;
};
/// Which of them is best for a set of devices is found by leaving out each.
constexpr std::array<Belief, 4> kBeliefs = {
    {{.1, .15, .7}, {.02, .3, .4}, {.005, .15, .2}, {.005, .6, .4}}};

/// How the logarithms of items' times vary together from device to device: a normal distribution.
struct Together {
  std::vector<double> mean;
  Grid covariance;
};
/// From devices that measured some items each; items that none has measured are told by the belief.
Together learn_together(const KnownDevices& known, const Belief& belief, int rounds = 8);

/// A run of an item on the new device.
struct MeasuredRun {
  size_t item = 0;
  double log_time = 0;
};
/// What is told of every item on the new device, as logarithms of seconds.
struct Told {
  std::vector<double> log_times;
  std::vector<double> deviations;
};
Told tell_new_device(const Together& together, std::span<const MeasuredRun> runs);

/// Which of the candidates to run on a new device, so that most is known of all of them
/// afterwards; the most telling first.
std::vector<size_t> choose_runs(const Together& together, std::span<const size_t> candidates,
                                size_t count);

}  // namespace assay::predict
