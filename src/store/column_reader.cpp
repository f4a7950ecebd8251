// SPDX-License-Identifier: Apache-2.0
#include "column_forms.h"
#include "columns.h"

#include <bit>
#include <optional>
#include <string>
#include <vector>

namespace assay::store {
namespace {

/// A body's bytes; `storage` keeps them alive when they had to be unpacked.
std::optional<std::string_view> read_body(ByteReader& in, uint8_t form, size_t limit,
                                          std::string& storage) {
  const auto bytes = in.text();
  if (in.failed()) return std::nullopt;
  if ((form & kPacked) == 0) return bytes;
  auto unpacked = unpack(bytes, limit);
  if (!unpacked) return std::nullopt;
  storage = std::move(*unpacked);
  return storage;
}

bool read_planes(std::string_view bytes, std::span<uint64_t> out) {
  if (bytes.empty()) return false;
  const auto width = static_cast<uint8_t>(bytes[0]);
  if (width > 8 || bytes.size() != 1 + width * out.size()) return false;
  std::fill(out.begin(), out.end(), 0);
  size_t at = 1;
  for (unsigned plane = 0; plane < width; ++plane) {
    for (auto& word : out)
      word |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[at++])) << (plane * 8U);
  }
  return true;
}

bool read_varints(std::string_view bytes, std::span<uint64_t> out) {
  ByteReader in(bytes);
  for (auto& value : out) value = in.varint();
  return in.done();
}

/// Puts the low bits of each number below what is there.
void join_low_parts(std::string_view bytes, unsigned bits, std::span<uint64_t> numbers) {
  size_t at = 0;
  for (auto& number : numbers) {
    uint64_t low = 0;
    for (unsigned bit = 0; bit < bits; ++bit, ++at) {
      low |= static_cast<uint64_t>((static_cast<uint8_t>(bytes[at / 8]) >> (at % 8)) & 1U) << bit;
    }
    number = (number << bits) | low;
  }
}

/// What follows the form byte of a column of integers.
bool read_residuals(ByteReader& in, uint8_t form, std::span<uint64_t> out) {
  const unsigned low_bits = in.byte();
  if (low_bits > 63) return false;
  const auto low = in.raw((out.size() * low_bits + 7) / 8);
  std::string storage;
  const auto bytes = read_body(in, form, 1 + 10 * out.size(), storage);
  if (!bytes) return false;
  if (!((form & kPlanes) != 0 ? read_planes(*bytes, out) : read_varints(*bytes, out))) return false;
  join_low_parts(low, low_bits, out);
  return true;
}

bool read_words(std::string_view bytes, std::span<uint64_t> out) {
  ByteReader in(bytes);
  for (auto& value : out) value = in.fixed64();
  return in.done();
}

/// Adds the predictions to the differences, from the second value on.
void predict(Prediction prediction, uint64_t step, std::span<const uint64_t> missed,
             std::vector<uint64_t>& offsets) {
  uint64_t line = 0;
  uint64_t last_step = step;
  for (size_t i = 1; i < offsets.size(); ++i) {
    line += step;
    const uint64_t predicted = prediction == Prediction::line ? line : offsets[i - 1] + last_step;
    const uint64_t off = missed.empty() ? 0 : static_cast<uint64_t>(from_zigzag(missed[i - 1]));
    offsets[i] = predicted + off;
    if (prediction == Prediction::trend) last_step = offsets[i] - offsets[i - 1];
  }
}

}  // namespace

bool read_integers(ByteReader& in, std::span<int64_t> out) {
  const uint64_t divisor = in.varint();
  const auto first = static_cast<uint64_t>(in.zigzag());
  const auto step = static_cast<uint64_t>(in.zigzag());
  const uint8_t form = in.byte();
  if (in.failed() || (form & kPredictionMask) > static_cast<uint8_t>(Prediction::trend))
    return false;
  std::vector<uint64_t> missed;
  if ((form & kExact) == 0) {
    missed.resize(out.size() - 1);
    if (!read_residuals(in, form, missed)) return false;
  }
  std::vector<uint64_t> offsets(out.size(), 0);
  predict(static_cast<Prediction>(form & kPredictionMask), step, missed, offsets);
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<int64_t>(first + divisor * offsets[i]);
  return true;
}

namespace {

bool read_scaled(ByteReader& in, uint8_t form, std::span<double> out) {
  const size_t digits = in.byte();
  if (in.failed() || digits > kMaxDigits) return false;
  std::vector<int64_t> integers(out.size());
  if (!read_integers(in, integers)) return false;
  std::vector<int64_t> corrections;
  if ((form & kCorrected) != 0) {
    corrections.resize(out.size());
    if (!read_integers(in, corrections)) return false;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    uint64_t bits = bits_of(unscaled(integers[i], digits, (form & kTimes) != 0));
    if (!corrections.empty()) bits += static_cast<uint64_t>(corrections[i]);
    out[i] = std::bit_cast<double>(bits);
  }
  return true;
}

bool read_bits(ByteReader& in, uint8_t form, std::span<double> out) {
  std::string storage;
  const auto bytes = read_body(in, form, 1 + 8 * out.size(), storage);
  if (!bytes) return false;
  std::vector<uint64_t> words(out.size());
  if (!((form & kPlanes) != 0 ? read_planes(*bytes, words) : read_words(*bytes, words)))
    return false;
  uint64_t before = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const uint64_t bits = (form & kXor) != 0 ? words[i] ^ before : words[i];
    out[i] = std::bit_cast<double>(bits);
    before = bits;
  }
  return true;
}

}  // namespace

bool read_doubles(ByteReader& in, std::span<double> out) {
  const uint8_t form = in.byte();
  if (in.failed()) return false;
  switch (static_cast<DoubleForm>(form & kDoubleFormMask)) {
    case DoubleForm::constant: {
      const double value = std::bit_cast<double>(in.fixed64());
      std::fill(out.begin(), out.end(), value);
      return !in.failed();
    }
    case DoubleForm::scaled:
      return read_scaled(in, form, out);
    case DoubleForm::words:
      return read_bits(in, form, out);
  }
  return false;
}

}  // namespace assay::store
