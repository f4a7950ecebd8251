// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibrate/slices.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::collect {

/// What the first GPU was measured to do.
struct GpuFigures {
  std::string model;
  double memory_bytes = 0;
  double count = 0;  ///< of all GPUs here
  std::map<std::string, Measured> figures;
  std::map<std::string, std::string> missing;  ///< by figure: why
};

/// One line of JSON, without its end: how one process tells the other.
std::string gpu_line(const Result<GpuFigures>& found);
/// The same read; the error is the one that was written, or says that the line is not of ours.
Result<GpuFigures> read_gpu_line(const std::string& line);

/// Starts a program that answers by such a line, and ends it: when it answered, when it takes
/// longer than `patience`, or when it is not wanted any more. Comes back then whatever the driver
/// does.
Result<GpuFigures> ask_for_gpu(const std::vector<std::string>& command, Milliseconds patience,
                               const std::function<bool()>& wanted);

/// The same for the GPU behind a device file, as find_gpu() tells, if it is one that we can
/// measure.
Result<GpuFigures> measured_gpu(const std::string& file, const std::vector<std::string>& command,
                                Milliseconds patience, const std::function<bool()>& wanted);

}  // namespace assay::collect
