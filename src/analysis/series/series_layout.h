// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "series_cells.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <assay/analysis/series_analysis.h>
#include <assay/base/csv.h>
#include <assay/base/result.h>

namespace assay::analysis {

/// What is beside dates or years that belongs to the time.
enum class TimeParts : uint8_t {
  none,
  clock,   ///< as 10:05
  hours,   ///< 0 to 24
  digits,  ///< of a clock, as 1005
  months,  ///< and their days, hours and minutes, as far as they are there
  days,    ///< of the year
};

/// Which cells of a table have the times and which the values.
struct SeriesLayout {
  bool head = false;
  size_t skipped = 0;  ///< rows above the values: a head, and formats of columns below it
  size_t columns = 1;
  std::optional<size_t> time = {};  ///< nothing: each row is a step
  bool compact = false;             ///< the times are as 20260131
  TimeParts beside = TimeParts::none;
  std::vector<size_t> parts = {};  ///< where these are
  size_t value = 0;
  std::string time_name = {}, name = {};  ///< by the head
  std::vector<std::string> part_names = {};

  size_t last() const {
    size_t most = std::max(value, time.value_or(0));
    for (const size_t part : parts) most = std::max(most, part);
    return most;
  }
  /// The time of a row, put together where it is in several cells. There has to be one.
  std::string time_text(const std::vector<std::string>& cells) const;
  /// Which columns these are, where a reader may doubt it; else empty. Nobody doubts the only
  /// dates.
  std::string words(bool dates) const;
};

/// By the first rows of a table, at least one, and `all` of them; `who` is for messages. Times are
/// in the column that was asked for, if not in `none`, the only one of dates, or the first, with
/// those beside it that have the rest of them; values in the one that was asked for, or the first
/// with numbers behind the times that are not all the same.
Result<SeriesLayout> layout_of(const std::vector<std::vector<std::string>>& rows,
                               const CsvRows& all, const CellReader& reader,
                               const SeriesTable& asked, const std::string& who);

}  // namespace assay::analysis
