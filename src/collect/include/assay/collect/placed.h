// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/model/workload.h>
#include <assay/predict/device.h>

namespace assay::collect {

/// A model that was started where placement said, and what it really took there.
struct Placed {
  std::string model;  ///< the file's stem
  model::Characteristics characteristics;
  predict::Device device;
  double load = 0;  ///< share of its cores that was busy when the time was predicted
  std::string engine;
  std::string engine_version;
  int threads = 0;
  std::vector<double> seconds;  ///< of each inference, sorted
  Timestamp start;
  Timestamp end;
  double predicted_seconds = 0;
};

/// Adds a row to the table, which is made where there is none: the columns of `assay collect`, so
/// that `assay train` learns from it, and predicted_seconds behind them. Several processes may add
/// to one table. An error leaves it as it was.
Result<void> add_placed(const std::filesystem::path& table, const Placed& placed);

}  // namespace assay::collect
