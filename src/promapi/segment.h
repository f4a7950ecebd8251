// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// A file of the queue: "ASSAYQ1\n", the offset up to which its records are done (8 bytes), then the
// records: size, samples and CRC-32 (4 bytes each; the checksum covers the other two and the
// bytes), and the bytes. Numbers are little-endian.
namespace assay::promapi {

constexpr size_t kSegmentHead = 16;
constexpr size_t kDoneOffset = 8;  ///< where the offset stands
constexpr size_t kRecordHead = 12;
constexpr size_t kMaxRecord = 16U << 20U;

std::string segment_head();
std::string done_bytes(uint64_t offset);
void append_record(std::string& to, std::string_view bytes, uint32_t samples);

struct SegmentRecord {
  std::string_view bytes;
  uint32_t samples = 0;

  size_t whole_size() const { return kRecordHead + bytes.size(); }
};
/// The size of a record with its head, by its first kRecordHead bytes; nothing when it cannot be
/// one.
std::optional<size_t> record_size(std::string_view head);
/// The record that `bytes` begin with; nothing when it is torn or wrong.
std::optional<SegmentRecord> first_record(std::string_view bytes);

/// What a file holds that may be of a crash. An offset of done records that is none of a record's
/// beginnings is not believed: better something is sent twice than not at all.
struct SegmentScan {
  bool ours = false;
  bool damaged = false;  ///< behind `end` there are bytes that are no record
  uint64_t read = 0;     ///< where the first record begins that is not done
  uint64_t end = 0;
  uint64_t records = 0;  ///< not done
  uint64_t samples = 0;  ///< in them
};
SegmentScan scan_segment(std::string_view file);

}  // namespace assay::promapi
