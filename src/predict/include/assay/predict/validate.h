// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <assay/predict/measures.h>
#include <assay/predict/table.h>

namespace assay::predict {

/// The share of times that intervals are made to hold.
constexpr double kHeld = 0.8;

/// What was told of every measured time by what was learned without its model.
struct Validation {
  Grid seconds;  ///< tasks x items; NaN where a task was measured too little to learn from
  Grid widths;   ///< half widths of intervals in logarithms, by errors in the other folds
};
/// Learns once per fold; models are never in two folds.
Result<Validation> validate(const Table& table, size_t folds, uint64_t seed);

/// All measured times beside what was told.
std::vector<Judged> judged(const Table& table, const Validation& found);
std::vector<Interval> intervals(const Table& table, const Validation& found);
/// For each item that all of `tasks` have measured: their times beside what was told.
std::vector<std::vector<Judged>> choices(const Table& table, const Validation& found,
                                         std::span<const size_t> tasks);

}  // namespace assay::predict
