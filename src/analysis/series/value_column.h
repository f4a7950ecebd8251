// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "series_cells.h"

#include <cstddef>
#include <string>
#include <vector>

#include <assay/base/csv.h>

namespace assay::analysis {

/// Whether the head of a column says that its numbers are positions, parts of a time or names.
/// `few`: they are small whole ones, as those of GPUs are.
bool counts_or_names(const std::vector<std::string>& head, size_t place, bool few);

/// Whether all numbers of a column are whole ones from 0 to 31. `rows` is the whole table, of which
/// so many are `skipped`.
bool are_few(size_t place, CsvRows rows, size_t skipped, const CellReader& reader);

/// The first of these columns whose numbers are not all the same, or just the first one.
size_t first_that_varies(const std::vector<size_t>& places, CsvRows rows, size_t skipped,
                         const CellReader& reader);

}  // namespace assay::analysis
