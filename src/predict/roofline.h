// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <assay/model/workload.h>
#include <assay/predict/device.h>
#include <assay/predict/predictor.h>

namespace assay::predict {

/// The seconds that a model would take if an engine got all out of a device that was measured to be
/// there: arithmetic or memory, whichever is slower for each kind of layer, and the start of every
/// operator. Nothing when the device was not calibrated. `threads`: 0 is one for each core.
std::optional<double> roofline_seconds(const Device& device, const Task& task, double threads,
                                       const model::Workload& work);

}  // namespace assay::predict
