// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph.h"

#include <cstdint>

namespace assay::zoo {

/// Multiplications with additions of Conv, ConvTranspose, Gemm, MatMul and LSTM, from the shapes
/// alone; what other operators do is not counted, as in the published figures.
int64_t count_macs(const Graph& graph);

}  // namespace assay::zoo
