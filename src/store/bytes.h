// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::store {

/// Maps small negative and positive numbers to small unsigned ones.
constexpr uint64_t to_zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1U) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t from_zigzag(uint64_t value) {
  return static_cast<int64_t>((value >> 1U) ^ (~(value & 1U) + 1U));
}
/// Bytes that `value` takes as a varint, 1 to 10.
constexpr size_t varint_size(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80U; value >>= 7U) ++size;
  return size;
}

/// Appends numbers to a string of bytes, little-endian.
class ByteWriter {
 public:
  void byte(uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void varint(uint64_t value);
  void zigzag(int64_t value) { varint(to_zigzag(value)); }
  void fixed64(uint64_t value);
  void raw(std::string_view bytes) { out_.append(bytes); }
  /// A length, then the bytes.
  void text(std::string_view bytes);

  size_t size() const { return out_.size(); }
  const std::string& str() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

/// Takes them out again. Reading past the end or a malformed varint gives zero and makes `failed`
/// true from then on, so a parser may check once before it trusts what it read.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  uint8_t byte();
  uint64_t varint();
  int64_t zigzag() { return from_zigzag(varint()); }
  uint64_t fixed64();
  std::string_view raw(uint64_t size);
  std::string_view text() { return raw(varint()); }

  bool failed() const { return failed_; }
  bool done() const { return !failed_ && left_.empty(); }
  size_t left() const { return left_.size(); }

 private:
  std::string_view left_;
  bool failed_ = false;
};

}  // namespace assay::store
