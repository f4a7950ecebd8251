// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::analysis {

/// What a cell of a table says, where a comma in numbers may be the decimal one.
struct CellReader {
  bool decimal_comma = false;

  /// Also with one of the units that nvidia-smi writes; NaN is a missing value, nothing is no
  /// number.
  std::optional<double> value(const std::string& cell) const;
  /// Seconds since 1970 or since anything, from numbers and dates.
  std::optional<double> time(const std::string& cell) const;

 private:
  std::optional<double> number(std::string_view text) const;
};

/// Whether it may be one: four digits, of 1500 to 2200.
bool is_year(std::string_view cell);

}  // namespace assay::analysis
