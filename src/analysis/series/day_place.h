// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "series_cells.h"
#include "series_layout.h"

#include <string>
#include <vector>

#include <assay/base/csv.h>
#include <assay/base/result.h>

namespace assay::analysis {

/// Which number of the dates in a table is the day, where they are as 01/02/2026: one of them is
/// above 12, or times go one way by one reading only, or by even steps; or it is the same.
/// An error: nothing tells.
/// `first` are the first ones of all rows.
Result<DayPlace> day_place(const std::vector<std::vector<std::string>>& first, CsvRows rows,
                           const SeriesLayout& layout, const std::string& who);

}  // namespace assay::analysis
