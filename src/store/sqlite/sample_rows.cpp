// SPDX-License-Identifier: Apache-2.0
#include "sqlite/sample_rows.h"

#include "json_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace assay::store {
namespace {

/// Gathers small blocks and gives them out as large ones.
class Folder {
 public:
  Result<void> add(std::string_view data) {
    ASSAY_TRY(auto columns, decode_block(data));
    size_t count = 0;
    for (const auto& column : columns) count += column.times.size();
    if (samples_ + count > kMaxBlockSamples) flush();
    samples_ += count;
    for (auto& column : columns) {
      Column& all = columns_[column.series];
      all.series = column.series;
      all.times.insert(all.times.end(), column.times.begin(), column.times.end());
      all.values.insert(all.values.end(), column.values.begin(), column.values.end());
    }
    return {};
  }

  std::vector<StoredBlock> take() {
    flush();
    return std::move(blocks_);
  }

 private:
  void flush() {
    if (samples_ == 0) return;
    std::vector<ColumnView> views;
    for (const auto& [number, column] : columns_)
      views.push_back({number, column.times, column.values});
    blocks_.push_back(make_block(views, Effort::best));
    columns_.clear();
    samples_ = 0;
  }

  std::map<uint32_t, Column> columns_;
  size_t samples_ = 0;
  std::vector<StoredBlock> blocks_;
};

Result<void> add_to(std::vector<Series>& series, std::string_view data) {
  ASSAY_TRY(const auto columns, decode_block(data));
  for (const auto& column : columns) {
    if (column.series >= series.size())
      return refused("a block of samples names an unknown series");
    Series& one = series[column.series];
    one.times.insert(one.times.end(), column.times.begin(), column.times.end());
    one.values.insert(one.values.end(), column.values.begin(), column.values.end());
  }
  return {};
}

void sort_by_time(Series& series) {
  if (std::is_sorted(series.times.begin(), series.times.end())) return;
  std::vector<size_t> order(series.times.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return series.times[a] < series.times[b]; });
  Series sorted{series.info, {}, {}};
  for (const size_t i : order) {
    sorted.times.push_back(series.times[i]);
    sorted.values.push_back(series.values[i]);
  }
  series = std::move(sorted);
}

}  // namespace

StoredBlock describe_block(std::span<const ColumnView> columns) {
  StoredBlock block;
  for (const auto& column : columns) {
    block.samples += column.times.size();
    for (const auto time : column.times) block.last_ns = std::max(block.last_ns, unix_ns(time));
  }
  return block;
}

StoredBlock make_block(std::span<const ColumnView> columns, Effort effort) {
  StoredBlock block = describe_block(columns);
  block.data = encode_block(columns, effort);
  return block;
}

Result<std::vector<SeriesInfo>> load_series(Database& db, int64_t run_id) {
  ASSAY_TRY(auto rows, db.prepare("SELECT info FROM series WHERE run_id = ? ORDER BY ordinal"));
  rows.bind(run_id);
  std::vector<SeriesInfo> series;
  while (true) {
    ASSAY_TRY(const bool more, rows.step());
    if (!more) return series;
    ASSAY_TRY(auto info, parse_series(rows.text(0)));
    series.push_back(std::move(info));
  }
}

Result<void> insert_series(Database& db, int64_t run_id, size_t number, const SeriesInfo& info) {
  return db.change("INSERT INTO series (run_id, ordinal, info) VALUES (?, ?, ?)", run_id,
                   static_cast<int64_t>(number), series_text(info));
}

Result<void> insert_block(Database& db, Place place, int64_t run_id, const StoredBlock& block) {
  const char* sql = place == Place::blocks
                        ? "INSERT INTO blocks (run_id, samples, last_ns, data) VALUES (?, ?, ?, ?)"
                        : "INSERT INTO tail (run_id, samples, last_ns, data) VALUES (?, ?, ?, ?)";
  return db.change(sql, run_id, static_cast<int64_t>(block.samples), block.last_ns,
                   Blob{block.data});
}

Result<std::vector<StoredBlock>> load_blocks(Database& db, Place place, int64_t run_id) {
  ASSAY_TRY(
      auto rows,
      db.prepare(place == Place::blocks
                     ? "SELECT samples, last_ns, data, id FROM blocks WHERE run_id = ? ORDER BY id"
                     : "SELECT samples, last_ns, data, id FROM tail WHERE run_id = ? ORDER BY id"));
  rows.bind(run_id);
  std::vector<StoredBlock> blocks;
  while (true) {
    ASSAY_TRY(const bool more, rows.step());
    if (!more) return blocks;
    blocks.push_back({static_cast<uint64_t>(rows.integer(0)), rows.integer(1),
                      std::string(rows.blob(2)), rows.integer(3)});
  }
}

Result<void> remove_tail(Database& db, int64_t run_id, std::span<const StoredBlock> rows) {
  if (rows.empty()) return {};
  const int64_t last = rows.back().row;
  ASSAY_TRY(const int64_t there,
            db.number("SELECT count(*) FROM tail WHERE run_id = ? AND id <= ?", run_id, last));
  if (there != static_cast<int64_t>(rows.size())) {
    return refused(fmt::format("another process is compacting the same run in the history {}",
                               db.file().native()));
  }
  return db.change("DELETE FROM tail WHERE run_id = ? AND id <= ?", run_id, last);
}

Result<std::vector<StoredBlock>> fold(std::span<const StoredBlock> blocks) {
  Folder folder;
  for (const auto& block : blocks) ASSAY_CHECK(folder.add(block.data));
  return folder.take();
}

Result<std::vector<Series>> load_samples(Database& db, int64_t run_id) {
  ASSAY_TRY(const auto infos, load_series(db, run_id));
  std::vector<Series> series;
  series.reserve(infos.size());
  for (const auto& info : infos) series.push_back({info, {}, {}});
  for (const auto place : {Place::blocks, Place::tail}) {
    ASSAY_TRY(const auto blocks, load_blocks(db, place, run_id));
    for (const auto& block : blocks) ASSAY_CHECK(add_to(series, block.data));
  }
  for (auto& one : series) sort_by_time(one);
  return series;
}

Result<Store::Size> sample_size(Database& db, const std::string& session_id) {
  ASSAY_TRY(auto row, db.prepare("SELECT total(length(data)), total(samples) FROM ("
                                 "SELECT data, samples, run_id FROM blocks UNION ALL "
                                 "SELECT data, samples, run_id FROM tail) "
                                 "WHERE run_id IN (SELECT id FROM runs WHERE session_id = ?)"));
  ASSAY_TRY(const bool found, row.bind(session_id).step());
  if (!found) return Store::Size{};
  return Store::Size{static_cast<uint64_t>(row.integer(0)), static_cast<uint64_t>(row.integer(1))};
}

}  // namespace assay::store
