// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "series_cells.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <assay/analysis/series_analysis.h>
#include <assay/base/result.h>

namespace assay::analysis {

/// Which cells of a table have the times and which the values.
struct SeriesLayout {
  bool head = false;
  size_t skipped = 0;  ///< rows above the values: a head, and formats of columns below it
  size_t columns = 1;
  std::optional<size_t> time = {};  ///< nothing: each row is a step
  size_t value = 0;
  std::string time_name = {}, name = {};  ///< by the head

  size_t last() const { return std::max(value, time.value_or(0)); }
  /// Which columns these are, where a reader may doubt it; else empty. Nobody doubts the only
  /// dates.
  std::string words(bool dates) const;
};

/// By the first rows of a table, at least one; `who` is for messages. Times are in the column that
/// was asked for, if not in `none`, the only one of dates, or the first; values in the one that was
/// asked for, or the first with numbers behind the times.
Result<SeriesLayout> layout_of(const std::vector<std::vector<std::string>>& rows,
                               const CellReader& reader, const SeriesTable& asked,
                               const std::string& who);

}  // namespace assay::analysis
