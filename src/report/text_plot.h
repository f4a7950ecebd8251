// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace assay::report {

/// What a column of dots shows: a line from low to high, nothing when they are not finite.
struct DotColumn {
  double low = 0;
  double high = 0;
};

/// Dots drawn with Braille letters, two columns and four rows of dots each; top line first. Every
/// line is as long as the columns need.
std::vector<std::string> dot_plot(const std::vector<DotColumn>& columns, double low, double high,
                                  size_t lines);

/// The smallest and largest value of each of so many equal stretches.
std::vector<DotColumn> dot_columns(const std::vector<double>& values, size_t count);

}  // namespace assay::report
