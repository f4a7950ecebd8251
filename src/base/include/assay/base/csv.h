// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>

namespace assay {

/// Reads a table whose cells are apart by commas, or by another sign, row by row. A cell in quotes
/// may hold commas, line ends and doubled quotes. Empty lines are no rows.
class CsvRows {
 public:
  /// The text has to live longer; `above` are lines that were left out before it.
  explicit CsvRows(std::string_view text, char separator = ',', size_t above = 0);

  /// False at the end. A quote that is never closed, and a row of too many cells, are errors.
  Result<bool> next(std::vector<std::string>& cells);
  /// Where the row that was read last begins, from 1.
  size_t line() const { return line_; }

  static constexpr size_t kMostCells = 10'000;

 private:
  Result<std::string> quoted();
  std::string plain();

  std::string_view rest_;
  const char separator_;
  size_t line_ = 0;
  size_t next_line_;
};

}  // namespace assay
