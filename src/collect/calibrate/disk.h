// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibrate/slices.h"

#include <filesystem>

#include <assay/base/result.h>

namespace assay::collect {

struct DiskFigures {
  Measured read;  ///< bytes per second
  Measured write;
};

/// Writes a file without a name in the folder, past the kernel's cache where it can be, and reads
/// it: at most so many bytes, for about so many seconds each.
Result<DiskFigures> measure_disk(const std::filesystem::path& folder, size_t bytes, double seconds);

}  // namespace assay::collect
