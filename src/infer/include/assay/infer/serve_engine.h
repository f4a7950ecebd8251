// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/infer/worker.h>

namespace assay::infer {

/// Answers the lines of standard input, as docs/engines.md has them, by OpenCV until they end.
/// Gives the exit code of the program.
int serve_opencv();

/// OpenCV in this process, for a worker.
WorkerEngine opencv_worker();

}  // namespace assay::infer
