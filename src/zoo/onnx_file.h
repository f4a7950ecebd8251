// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph.h"

#include <cstdint>
#include <filesystem>
#include <string>

#include <assay/base/result.h>

namespace assay::zoo {

/// Writes the graph as an ONNX file (IR version 5, operator set 10). The weights are drawn while
/// they are written: any size takes little memory, and the same seed gives the same bytes
/// everywhere. The file is there whole or not at all. Returns its size.
Result<int64_t> write_onnx(const Graph& graph, const std::string& name, uint64_t seed,
                           const std::filesystem::path& file);

/// The size that `write_onnx` would write.
int64_t onnx_size(const Graph& graph, const std::string& name);

}  // namespace assay::zoo
