// SPDX-License-Identifier: Apache-2.0
#include "bytes.h"

namespace assay::store {

void ByteWriter::varint(uint64_t value) {
  for (; value >= 0x80U; value >>= 7U) byte(static_cast<uint8_t>(value | 0x80U));
  byte(static_cast<uint8_t>(value));
}

void ByteWriter::fixed64(uint64_t value) {
  for (unsigned shift = 0; shift < 64; shift += 8) byte(static_cast<uint8_t>(value >> shift));
}

void ByteWriter::text(std::string_view bytes) {
  varint(bytes.size());
  raw(bytes);
}

uint8_t ByteReader::byte() {
  if (left_.empty()) {
    failed_ = true;
    return 0;
  }
  const auto value = static_cast<uint8_t>(left_.front());
  left_.remove_prefix(1);
  return value;
}

uint64_t ByteReader::varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    const uint64_t part = byte();
    if (shift == 63 && part > 1) break;
    value |= (part & 0x7fU) << shift;
    if (part < 0x80U) return failed_ ? 0 : value;
  }
  failed_ = true;
  return 0;
}

uint64_t ByteReader::fixed64() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 8) value |= static_cast<uint64_t>(byte()) << shift;
  return failed_ ? 0 : value;
}

std::string_view ByteReader::raw(uint64_t size) {
  if (failed_ || size > left_.size()) {
    failed_ = true;
    return {};
  }
  const auto part = left_.substr(0, size);
  left_.remove_prefix(size);
  return part;
}

}  // namespace assay::store
