// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay::infer {

/// Answers the lines of standard input, as docs/engines.md has them, by OpenCV until they end.
/// Gives the exit code of the program.
int serve_opencv();

}  // namespace assay::infer
