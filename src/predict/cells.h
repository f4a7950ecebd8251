// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/predict/mapping.h>
#include <assay/predict/table.h>

namespace assay::predict {

/// A CSV in memory, whose cells are found by the column's name.
class Cells {
 public:
  static Result<Cells> read(const CsvSource& source);

  size_t count() const { return rows_.size(); }
  bool has(const std::string& column) const { return columns_.contains(column); }
  /// The column has to be there.
  const std::string& text(size_t row, const std::string& column) const {
    return rows_[row][columns_.find(column)->second];
  }
  /// "times.csv:12: " and what is wrong there.
  Failure wrong(size_t row, const std::string& what) const;
  const std::string& name() const { return name_; }

 private:
  Result<void> add(const std::vector<std::string>& row, size_t line);

  std::string name_;
  std::map<std::string, size_t> columns_;
  size_t width_ = 0;
  std::vector<std::vector<std::string>> rows_;
  std::vector<size_t> lines_;
};

/// In seconds; nothing when it is no time.
std::optional<double> parse_time(const std::string& text, TimeUnit unit);

}  // namespace assay::predict
