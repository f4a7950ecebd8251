// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bytes.h"
#include "packer.h"

#include <cstdint>
#include <span>

/// Columns of numbers in the fewest bytes, exact to the last bit. docs/store-format.md has the
/// layout.
namespace assay::store {

/// Writes columns. With a packer it tries every form, compressed and not, and keeps the smallest;
/// without one it picks a good form by a cheap estimate. Columns must not be empty.
class ColumnWriter {
 public:
  explicit ColumnWriter(Packer* packer = nullptr) : packer_(packer) {}

  void integers(std::span<const int64_t> values, ByteWriter& out) const;
  void doubles(std::span<const double> values, ByteWriter& out) const;

 private:
  struct Body {
    bool packed = false;
    std::string bytes;
  };
  Body body(std::string bytes) const;
  void residuals(std::span<const uint64_t> residuals, uint8_t form, ByteWriter& out) const;
  bool scaled(std::span<const double> values, ByteWriter& out) const;
  void words(std::span<const double> values, ByteWriter& out) const;

  Packer* packer_;
};

/// Read a column of `out.size()` numbers, which must not be zero. False when the bytes are not one.
bool read_integers(ByteReader& in, std::span<int64_t> out);
bool read_doubles(ByteReader& in, std::span<double> out);

}  // namespace assay::store
