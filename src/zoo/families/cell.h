// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>

namespace assay::zoo {

enum class CellOperation { none, skip, conv_1x1, conv_3x3, average_pool };

/// For each node but the first one, what stands on the edge from each node before it.
using Cell = std::vector<std::vector<CellOperation>>;

/// "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|..|..|..|", as NAS-Bench-201 writes its cells.
Result<Cell> parse_cell(std::string_view text);
/// Its operations in one digit each: "313100".
std::string cell_code(const Cell& cell);
/// Whether any way leads from the first node to the last.
bool leads_through(const Cell& cell);

}  // namespace assay::zoo
