// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay::predict {

/// Numbers in rows and columns, row by row. What is not known is NaN.
struct Grid {
  Grid() = default;
  Grid(size_t row_count, size_t column_count, double fill = 0)
      : rows(row_count), columns(column_count), values(row_count * column_count, fill) {}

  double& at(size_t row, size_t column) { return values[row * columns + column]; }
  double at(size_t row, size_t column) const { return values[row * columns + column]; }
  std::span<const double> row(size_t row) const { return {values.data() + row * columns, columns}; }

  size_t rows = 0;
  size_t columns = 0;
  std::vector<double> values;
};

}  // namespace assay::predict
