// SPDX-License-Identifier: Apache-2.0
#include "segment.h"

#include <bit>
#include <cstring>
#include <zlib.h>

namespace assay::promapi {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "ASSAYQ1\n";
constexpr size_t kChecksumOffset = 8;

template <class Number>
Number number_at(std::string_view bytes, size_t offset) {
  Number number{};
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

template <class Number>
void append_number(std::string& to, Number number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

uint32_t checksum(std::string_view sizes, std::string_view bytes) {
  const auto part = [](uLong sum, std::string_view text) {
    return crc32_z(sum, reinterpret_cast<const Bytef*>(text.data()), text.size());
  };
  return static_cast<uint32_t>(part(part(0, sizes), bytes));
}

}  // namespace

std::string segment_head() {
  return std::string(kMagic) + done_bytes(kSegmentHead);
}

std::string done_bytes(uint64_t offset) {
  std::string bytes;
  append_number(bytes, offset);
  return bytes;
}

void append_record(std::string& to, std::string_view bytes, uint32_t samples) {
  const size_t begin = to.size();
  append_number(to, static_cast<uint32_t>(bytes.size()));
  append_number(to, samples);
  append_number(to, checksum(std::string_view(to).substr(begin, kChecksumOffset), bytes));
  to += bytes;
}

std::optional<size_t> record_size(std::string_view head) {
  if (head.size() < kRecordHead) return std::nullopt;
  const auto size = number_at<uint32_t>(head, 0);
  if (size > kMaxRecord) return std::nullopt;
  return kRecordHead + size;
}

std::optional<SegmentRecord> first_record(std::string_view bytes) {
  const auto size = record_size(bytes);
  if (!size || bytes.size() < *size) return std::nullopt;
  const SegmentRecord record{bytes.substr(kRecordHead, *size - kRecordHead),
                             number_at<uint32_t>(bytes, 4)};
  const uint32_t sum = checksum(bytes.substr(0, kChecksumOffset), record.bytes);
  if (sum != number_at<uint32_t>(bytes, kChecksumOffset)) return std::nullopt;
  return record;
}

SegmentScan scan_segment(std::string_view file) {
  SegmentScan scan;
  scan.ours = file.size() >= kSegmentHead && file.starts_with(kMagic);
  if (!scan.ours) return scan;
  const auto done = number_at<uint64_t>(file, kDoneOffset);
  scan.read = kSegmentHead;
  scan.end = kSegmentHead;
  while (const auto record = first_record(file.substr(scan.end))) {
    scan.end += record->whole_size();
    ++scan.records;
    scan.samples += record->samples;
    if (scan.end != done) continue;
    scan.read = done;
    scan.records = 0;
    scan.samples = 0;
  }
  scan.damaged = scan.end != file.size();
  return scan;
}

}  // namespace assay::promapi
