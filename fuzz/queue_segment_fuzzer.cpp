// SPDX-License-Identifier: Apache-2.0
// A file of the queue as a crash or somebody else may have left it. Whatever it holds: what is
// found lies within the file, what is cut off behind the last good record changes nothing else, and
// a record put behind it is found.
#include "../src/promapi/segment.h"

#include <cstdint>
#include <cstdlib>

namespace {

using namespace assay::promapi;

void check(bool holds) {
  if (!holds) std::abort();
}

/// Walks the records one by one, as the queue does when it takes them.
void check_records(std::string_view file, const SegmentScan& scan) {
  uint64_t at = scan.read;
  uint64_t samples = 0;
  for (uint64_t i = 0; i < scan.records; ++i) {
    const auto record = first_record(file.substr(at));
    check(record.has_value());
    check(record_size(file.substr(at, kRecordHead)) == record->whole_size());
    at += record->whole_size();
    samples += record->samples;
  }
  check(at == scan.end && samples == scan.samples);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string file(data, data + size);
  const SegmentScan scan = scan_segment(file);
  if (!scan.ours) return 0;
  check(scan.read <= scan.end && scan.end <= file.size());
  check_records(file, scan);
  std::string good = file.substr(0, scan.end);
  const SegmentScan again = scan_segment(good);
  check(!again.damaged && again.read == scan.read && again.records == scan.records);
  append_record(good, "one more", 5);
  const SegmentScan more = scan_segment(good);
  check(!more.damaged && more.end == good.size());
  check(more.samples == scan.samples + 5 || more.read == more.end);
  return 0;
}
