// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "blocks.h"
#include "sqlite/database.h"

#include <string>
#include <vector>

#include <assay/samples/series.h>
#include <assay/store/store.h>

/// Series and their samples as rows. Callers hold a transaction where they call more than one.
namespace assay::store {

/// A block on its way into or out of a table.
struct StoredBlock {
  uint64_t samples = 0;
  int64_t last_ns = 0;
  std::string data;
  int64_t row = 0;  ///< where it was loaded from
};

/// The counts alone, without data.
StoredBlock describe_block(std::span<const ColumnView> columns);
StoredBlock make_block(std::span<const ColumnView> columns, Effort effort);

/// The position is the number used in blocks.
Result<std::vector<SeriesInfo>> load_series(Database& db, int64_t run_id);
Result<void> insert_series(Database& db, int64_t run_id, size_t number, const SeriesInfo& info);

enum class Place : uint8_t { blocks, tail };
Result<void> insert_block(Database& db, Place place, int64_t run_id, const StoredBlock& block);
/// As they are, in the order of writing.
Result<std::vector<StoredBlock>> load_blocks(Database& db, Place place, int64_t run_id);
/// Takes exactly these rows out of the tail; an error when they are no longer all there.
Result<void> remove_tail(Database& db, int64_t run_id, std::span<const StoredBlock> rows);

/// What small blocks hold, as few large ones. Slow, and needs no database.
Result<std::vector<StoredBlock>> fold(std::span<const StoredBlock> blocks);

/// All samples of a run, each series in the order of time.
Result<std::vector<Series>> load_samples(Database& db, int64_t run_id);
Result<Store::Size> sample_size(Database& db, const std::string& session_id);

}  // namespace assay::store
