// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "series_cells.h"

#include <cstddef>
#include <string>
#include <vector>

namespace assay::analysis {

/// Whether a row names columns.
bool is_head(const std::vector<std::string>& row, const CellReader& reader);

/// How many of the first rows of a file are no part of its table, as `Station: Dresden` above
/// `Date;Level`: words in fewer cells than it has, above a head.
size_t rows_above(const std::vector<std::vector<std::string>>& rows, const CellReader& reader);

/// Whether the row below the head of a table has units or formats (`5s`, `m³/s`), and no values.
bool is_below_head(const std::vector<std::string>& row, const CellReader& reader);

}  // namespace assay::analysis
