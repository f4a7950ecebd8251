// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "teller.h"

#include <optional>
#include <vector>

#include <assay/predict/train.h>

namespace assay::predict {

/// Some of what was measured, by which devices are compared.
std::vector<model::Workload> usual_workloads(const std::vector<RunModel>& models);

/// Adds a task for each device without one and for each engine and precision that calibrated
/// devices were measured with, and how it is told.
void add_unmeasured(Trained& trained);

/// How well each calibrated device was told by the others.
struct UnmeasuredTrial {
  DeviceTrial trial;
  double width = 0;  ///< half of an interval that is wide enough, in logarithms
};
/// `idle`: the logarithms of times, tasks x models; `told_width`: half of an interval of times that
/// are told of measured devices. Nothing with fewer than two calibrated devices.
std::optional<UnmeasuredTrial> try_unmeasured(const Trained& trained,
                                              const std::vector<RunModel>& models, const Grid& idle,
                                              double told_width);
/// Where nothing could be tried: a third to three times.
constexpr double kBlindWidth = 1.1;

}  // namespace assay::predict
