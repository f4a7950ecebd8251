// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <assay/predict/measures.h>
#include <assay/predict/table.h>

namespace assay::predict {

/// How a device that was never seen is to be told.
struct NewDeviceTrial {
  size_t runs = 20;          ///< on the new device
  bool runs_chosen = false;  ///< the most telling ones; else any
  size_t draws = 3;          ///< how often any are drawn
  uint64_t seed = 0;
};

/// What was told, beside what was measured and the interval that was told with it.
struct NewDeviceFound {
  std::vector<Judged> judged;
  std::vector<Interval> intervals;
};
/// Leaves out each device with its namesakes, and tells its times from the others' and from some
/// runs on it. The two beliefs whose mean is told, and the width of intervals, come from leaving
/// out each of the others in turn. Tasks with fewer than five times more than runs are not told.
NewDeviceFound leave_devices_out(const Table& table, const NewDeviceTrial& trial);

}  // namespace assay::predict
