// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "series_layout.h"

#include <cstddef>
#include <string>

#include <assay/base/csv.h>

namespace assay::analysis {

/// Which column tells why there are several rows at most of so many times, as in "station has 2
/// values: A, B"; empty: none does. `rows` is the whole table.
std::string row_kinds(CsvRows rows, const SeriesLayout& layout, const CellReader& reader,
                      size_t times);

}  // namespace assay::analysis
