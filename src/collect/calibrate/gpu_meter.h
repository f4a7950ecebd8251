// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibrate/gpu.h"

namespace assay::collect {

/// Measures the first GPU from inside this process, which a driver can hang or crash: see
/// ask_for_gpu(). `library` is the driver's, "libcuda.so.1". Takes less than 15 s; `quick` 2.
Result<GpuFigures> measure_gpu(const char* library, bool quick);

}  // namespace assay::collect
