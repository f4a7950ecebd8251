// SPDX-License-Identifier: Apache-2.0
#include "blocks.h"

#include "bytes.h"
#include "columns.h"
#include "packer.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace assay::store {
namespace {

constexpr std::string_view kMagic = "ASB";
constexpr uint8_t kVersion = 1;
constexpr uint8_t kStored = 0;
constexpr uint8_t kZstd = 1;
constexpr int kFastLevel = 1;
constexpr int kTrialLevel = 5;
constexpr int kBestLevel = 15;
/// A sample takes at most 10 bytes of time and 8 of value, plus a little for each column.
constexpr size_t kMaxPayload = 32U * kMaxBlockSamples;

std::vector<int64_t> to_integers(std::span<const Timestamp> times) {
  std::vector<int64_t> out(times.size());
  std::transform(times.begin(), times.end(), out.begin(), unix_ns);
  return out;
}

/// The different columns of times in a block, and which series uses which.
struct TimeColumns {
  std::vector<std::span<const Timestamp>> columns;
  std::vector<size_t> used_by;
};

TimeColumns share_times(std::span<const ColumnView> views) {
  TimeColumns shared;
  for (const auto& view : views) {
    const auto same = std::find_if(shared.columns.begin(), shared.columns.end(), [&](auto times) {
      return std::equal(times.begin(), times.end(), view.times.begin(), view.times.end());
    });
    shared.used_by.push_back(static_cast<size_t>(same - shared.columns.begin()));
    if (same == shared.columns.end()) shared.columns.push_back(view.times);
  }
  return shared;
}

/// The latest earlier column of the same length: read at the same beats, a little before.
std::optional<size_t> neighbour(const TimeColumns& shared, size_t index) {
  for (size_t i = index; i-- > 0;) {
    if (shared.columns[i].size() == shared.columns[index].size()) return i;
  }
  return std::nullopt;
}

std::vector<int64_t> distances(std::span<const Timestamp> times, std::span<const Timestamp> from) {
  std::vector<int64_t> out(times.size());
  for (size_t i = 0; i < times.size(); ++i) {
    out[i] = static_cast<int64_t>(static_cast<uint64_t>(unix_ns(times[i])) -
                                  static_cast<uint64_t>(unix_ns(from[i])));
  }
  return out;
}

/// The length, then 0 and the times themselves, or 1 + an earlier column and the distances from it.
void write_times(const TimeColumns& shared, size_t index, const ColumnWriter& writer,
                 ByteWriter& out) {
  const auto times = shared.columns[index];
  out.varint(times.size());
  ByteWriter alone;
  alone.varint(0);
  writer.integers(to_integers(times), alone);
  if (const auto other = neighbour(shared, index)) {
    ByteWriter relative;
    relative.varint(1 + *other);
    writer.integers(distances(times, shared.columns[*other]), relative);
    if (relative.size() < alone.size()) alone = std::move(relative);
  }
  out.raw(alone.str());
}

std::string write_payload(std::span<const ColumnView> views, const ColumnWriter& writer) {
  const TimeColumns shared = share_times(views);
  ByteWriter out;
  out.varint(shared.columns.size());
  for (size_t i = 0; i < shared.columns.size(); ++i) write_times(shared, i, writer, out);
  out.varint(views.size());
  for (size_t i = 0; i < views.size(); ++i) {
    out.varint(views[i].series);
    out.varint(shared.used_by[i]);
    writer.doubles(views[i].values, out);
  }
  return out.take();
}

Failure damaged(std::string_view why) {
  return refused(fmt::format("a block of samples is damaged ({})", why));
}

using Times = std::vector<int64_t>;

Result<void> read_times(ByteReader& in, std::vector<Times>& columns, size_t& budget) {
  const uint64_t count = in.varint();
  const uint64_t reference = in.varint();
  if (in.failed() || count == 0 || count > budget) return damaged("length of times");
  budget -= count;
  Times times(count);
  if (!read_integers(in, times)) return damaged("times");
  if (reference > 0) {
    if (reference > columns.size() || columns[reference - 1].size() != count) {
      return damaged("reference between times");
    }
    const Times& other = columns[reference - 1];
    for (size_t i = 0; i < count; ++i) {
      times[i] =
          static_cast<int64_t>(static_cast<uint64_t>(times[i]) + static_cast<uint64_t>(other[i]));
    }
  }
  columns.push_back(std::move(times));
  return {};
}

Result<Column> read_column(ByteReader& in, const std::vector<Times>& times, size_t& budget) {
  const uint64_t series = in.varint();
  const uint64_t index = in.varint();
  if (in.failed() || series > UINT32_MAX || index >= times.size()) return damaged("series");
  const Times& own = times[index];
  if (own.size() > budget) return damaged("too many samples");
  budget -= own.size();
  Column column;
  column.series = static_cast<uint32_t>(series);
  column.times.resize(own.size());
  std::transform(own.begin(), own.end(), column.times.begin(), from_unix_ns);
  column.values.resize(own.size());
  if (!read_doubles(in, column.values)) return damaged("values");
  return column;
}

Result<std::vector<Column>> read_payload(std::string_view payload) {
  ByteReader in(payload);
  size_t budget = kMaxBlockSamples;
  std::vector<Times> times;
  const uint64_t time_columns = in.varint();
  for (uint64_t i = 0; i < time_columns; ++i) ASSAY_CHECK(read_times(in, times, budget));
  budget = kMaxBlockSamples;
  std::vector<Column> columns;
  const uint64_t count = in.varint();
  for (uint64_t i = 0; i < count; ++i) {
    ASSAY_TRY(auto column, read_column(in, times, budget));
    columns.push_back(std::move(column));
  }
  if (!in.done()) return damaged("its end");
  return columns;
}

}  // namespace

std::string encode_block(std::span<const ColumnView> columns, Effort effort) {
  std::vector<ColumnView> views;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(views),
               [](const ColumnView& view) { return !view.times.empty(); });
  const bool best = effort == Effort::best;
  std::optional<Packer> trial;
  if (best) trial.emplace(kTrialLevel);
  const std::string payload = write_payload(views, ColumnWriter(trial ? &*trial : nullptr));
  Packer packer(best ? kBestLevel : kFastLevel, best);
  const std::string packed = packer.pack(payload);
  const bool smaller = packed.size() < payload.size();
  ByteWriter out;
  out.raw(kMagic);
  out.byte(kVersion);
  out.byte(smaller ? kZstd : kStored);
  out.raw(smaller ? packed : payload);
  return out.take();
}

Result<std::vector<Column>> decode_block(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.raw(kMagic.size()) != kMagic) return damaged("it does not begin like one");
  const uint8_t version = in.byte();
  if (!in.failed() && version != kVersion) {
    return refused(fmt::format(
        "a block of samples has format {}, this version of Assay knows {}: use a newer Assay",
        version, kVersion));
  }
  const uint8_t method = in.byte();
  if (in.failed() || method > kZstd) return damaged("its head");
  const auto body = in.raw(in.left());
  if (method == kStored) return read_payload(body);
  const auto payload = unpack(body, kMaxPayload);
  if (!payload) return damaged("its compression");
  return read_payload(*payload);
}

std::vector<std::vector<ColumnView>> split_columns(std::span<const ColumnView> columns,
                                                   size_t limit) {
  std::vector<std::vector<ColumnView>> groups;
  size_t room = 0;
  for (auto column : columns) {
    while (!column.times.empty()) {
      if (room == 0) {
        groups.emplace_back();
        room = limit;
      }
      const size_t part = std::min(room, column.times.size());
      groups.back().push_back({column.series, column.times.first(part), column.values.first(part)});
      column.times = column.times.subspan(part);
      column.values = column.values.subspan(part);
      room -= part;
    }
  }
  return groups;
}

std::vector<ColumnView> views_of(std::span<const Column> columns) {
  std::vector<ColumnView> views;
  views.reserve(columns.size());
  for (const auto& column : columns) views.push_back({column.series, column.times, column.values});
  return views;
}

}  // namespace assay::store
