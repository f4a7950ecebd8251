// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>

/// Samples of several series as one string of bytes. docs/store-format.md describes it.
namespace assay::store {

/// What one block may hold; writers of more make several.
constexpr size_t kMaxBlockSamples = 1U << 20U;

/// Samples of one series, oldest first; `series` is its number within the run.
struct Column {
  uint32_t series = 0;
  std::vector<Timestamp> times;
  std::vector<double> values;
};

/// A part of somebody else's columns; both spans have one length.
struct ColumnView {
  uint32_t series = 0;
  std::span<const Timestamp> times;
  std::span<const double> values;
};

enum class Effort : uint8_t {
  fast,  ///< while an app is being measured
  best,  ///< afterwards, for keeping
};

/// Columns without samples are left out. All together must not exceed kMaxBlockSamples.
std::string encode_block(std::span<const ColumnView> columns, Effort effort);
/// Safe on any bytes: an error, and memory bounded by kMaxBlockSamples, when they are not a block.
Result<std::vector<Column>> decode_block(std::string_view bytes);

/// Cuts columns of any length into groups that each fit a block of `limit` samples.
std::vector<std::vector<ColumnView>> split_columns(std::span<const ColumnView> columns,
                                                   size_t limit = kMaxBlockSamples);

std::vector<ColumnView> views_of(std::span<const Column> columns);

}  // namespace assay::store
