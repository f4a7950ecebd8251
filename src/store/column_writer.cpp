// SPDX-License-Identifier: Apache-2.0
#include "column_forms.h"
#include "columns.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace assay::store {
namespace {

/// Differences from the first value, divided by what they have in common. All of it wraps around,
/// so that every int64 comes back.
struct Reduced {
  uint64_t first = 0;
  uint64_t divisor = 1;
  std::vector<int64_t> offsets;  // offsets[0] is 0
};

uint64_t magnitude(int64_t value) {
  return value < 0 ? ~static_cast<uint64_t>(value) + 1U : static_cast<uint64_t>(value);
}

Reduced reduce(std::span<const int64_t> values) {
  Reduced r;
  r.first = static_cast<uint64_t>(values[0]);
  r.offsets.resize(values.size());
  uint64_t common = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    r.offsets[i] = static_cast<int64_t>(static_cast<uint64_t>(values[i]) - r.first);
    common = std::gcd(common, magnitude(r.offsets[i]));
  }
  // Above that, dividing as signed numbers could overflow.
  if (common > 1 && common < (1ULL << 62U)) {
    r.divisor = common;
    for (auto& offset : r.offsets) offset /= static_cast<int64_t>(common);
  }
  return r;
}

int64_t median_step(std::span<const int64_t> offsets) {
  std::vector<int64_t> steps(offsets.size() - 1);
  for (size_t i = 1; i < offsets.size(); ++i) {
    steps[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(offsets[i]) -
                                        static_cast<uint64_t>(offsets[i - 1]));
  }
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

int64_t choose_step(Prediction prediction, std::span<const int64_t> offsets) {
  if (offsets.size() < 2) return 0;
  switch (prediction) {
    case Prediction::line:
      return offsets.back() / static_cast<int64_t>(offsets.size() - 1);
    case Prediction::step:
      return median_step(offsets);
    case Prediction::trend:
      return offsets[1];
  }
  return 0;
}

/// What the prediction missed, from the second value on, in zigzag form.
std::vector<uint64_t> differences(Prediction prediction, int64_t step,
                                  std::span<const int64_t> offsets) {
  std::vector<uint64_t> out;
  out.reserve(offsets.size());
  uint64_t last_step = static_cast<uint64_t>(step);
  uint64_t line = 0;
  for (size_t i = 1; i < offsets.size(); ++i) {
    const auto value = static_cast<uint64_t>(offsets[i]);
    const auto before = static_cast<uint64_t>(offsets[i - 1]);
    line += static_cast<uint64_t>(step);
    const uint64_t predicted = prediction == Prediction::line ? line : before + last_step;
    if (prediction == Prediction::trend) last_step = value - before;
    out.push_back(to_zigzag(static_cast<int64_t>(value - predicted)));
  }
  return out;
}

size_t estimate(std::span<const uint64_t> residuals) {
  size_t size = 0;
  for (const auto r : residuals) size += varint_size(r);
  return size;
}

/// The lowest bits of each number side by side: they are noise, which nothing makes smaller.
std::string low_parts(std::span<const uint64_t> numbers, unsigned bits) {
  std::string out;
  out.reserve((numbers.size() * bits + 7) / 8);
  uint64_t open = 0;
  unsigned filled = 0;
  const auto add = [&](uint64_t part, unsigned count) {
    open |= part << filled;
    for (filled += count; filled >= 8; filled -= 8, open >>= 8U) {
      out.push_back(static_cast<char>(open));
    }
  };
  for (const auto number : numbers) {
    // Halves, so that what is open still has room.
    const unsigned first = std::min(bits, 32U);
    add(number & ((1ULL << first) - 1), first);
    if (bits > first) add((number >> first) & ((1ULL << (bits - first)) - 1), bits - first);
  }
  if (filled > 0) out.push_back(static_cast<char>(open));
  return out;
}

std::string varints(std::span<const uint64_t> numbers, unsigned low_bits) {
  ByteWriter out;
  for (const auto number : numbers) out.varint(number >> low_bits);
  return out.take();
}

unsigned median_width(std::span<const uint64_t> numbers) {
  std::vector<uint64_t> copy(numbers.begin(), numbers.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  return static_cast<unsigned>(std::bit_width(*middle));
}

std::string planes(std::span<const uint64_t> words) {
  uint64_t all = 0;
  for (const auto word : words) all |= word;
  const auto width = static_cast<uint8_t>((std::bit_width(all) + 7U) / 8U);
  ByteWriter out;
  out.byte(width);
  for (unsigned plane = 0; plane < width; ++plane) {
    for (const auto word : words) out.byte(static_cast<uint8_t>(word >> (plane * 8U)));
  }
  return out.take();
}

struct Scaled {
  bool times = false;
  size_t digits = 0;
  std::vector<int64_t> integers;
  std::vector<int64_t> corrections;  // empty: not needed
};

constexpr double kLargestExact = 9007199254740992.0;  // 2^53
constexpr int64_t kLargestCorrection = 3;

/// All values as integers of one scale, or nothing. `tolerance` is in units of the last place.
std::optional<Scaled> at_scale(std::span<const double> values, size_t digits, bool times,
                               int64_t tolerance) {
  Scaled result{times, digits, {}, {}};
  for (const double value : values) {
    const double candidate = std::nearbyint(value * kPowers[digits]);
    if (!(std::abs(candidate) <= kLargestExact)) return std::nullopt;  // NaN is refused too
    const auto integer = static_cast<int64_t>(candidate);
    const auto off =
        static_cast<int64_t>(bits_of(value) - bits_of(unscaled(integer, digits, times)));
    if (off < -tolerance || off > tolerance) return std::nullopt;
    if (result.integers.empty()) result.integers.reserve(values.size());
    result.integers.push_back(integer);
    if (tolerance > 0) result.corrections.push_back(off);
  }
  return result;
}

std::optional<Scaled> find_scale(std::span<const double> values) {
  for (const int64_t tolerance : {int64_t{0}, kLargestCorrection}) {
    for (size_t digits = 0; digits <= kMaxDigits; ++digits) {
      if (auto found = at_scale(values, digits, false, tolerance)) return found;
      if (tolerance > 0 || digits == 0) continue;
      if (auto found = at_scale(values, digits, true, tolerance)) return found;
    }
  }
  return std::nullopt;
}

void keep_smaller(std::optional<ByteWriter>& best, ByteWriter candidate) {
  if (!best || candidate.size() < best->size()) best = std::move(candidate);
}

}  // namespace

ColumnWriter::Body ColumnWriter::body(std::string bytes) const {
  if (packer_ != nullptr) {
    std::string packed = packer_->pack(bytes);
    if (packed.size() < bytes.size()) return {true, std::move(packed)};
  }
  return {false, std::move(bytes)};
}

void ColumnWriter::residuals(std::span<const uint64_t> residuals, uint8_t form,
                             ByteWriter& out) const {
  std::optional<ByteWriter> best;
  const auto attempt = [&](unsigned low_bits, uint8_t layout, std::string bytes) {
    const Body tried = body(std::move(bytes));
    ByteWriter candidate;
    candidate.byte(form | layout | (tried.packed ? kPacked : 0));
    candidate.byte(static_cast<uint8_t>(low_bits));
    candidate.raw(low_parts(residuals, low_bits));
    candidate.text(tried.bytes);
    keep_smaller(best, std::move(candidate));
  };
  attempt(0, 0, varints(residuals, 0));
  if (packer_ != nullptr) {
    attempt(0, kPlanes, planes(residuals));
    const unsigned typical = median_width(residuals);
    for (unsigned kept = 1; kept <= 3 && kept < typical; ++kept) {
      attempt(typical - kept, 0, varints(residuals, typical - kept));
    }
  }
  out.raw(best->str());
}

void ColumnWriter::integers(std::span<const int64_t> values, ByteWriter& out) const {
  const Reduced reduced = reduce(values);
  std::optional<ByteWriter> best;
  size_t best_estimate = 0;
  for (const auto prediction : {Prediction::step, Prediction::line, Prediction::trend}) {
    const int64_t step = choose_step(prediction, reduced.offsets);
    const auto missed = differences(prediction, step, reduced.offsets);
    const bool exact = std::all_of(missed.begin(), missed.end(), [](uint64_t m) { return m == 0; });
    const size_t size = estimate(missed);
    // Without a packer the estimate decides before anything is written.
    if (packer_ == nullptr && best && !exact && size >= best_estimate) continue;
    ByteWriter candidate;
    candidate.varint(reduced.divisor);
    candidate.zigzag(static_cast<int64_t>(reduced.first));
    candidate.zigzag(step);
    const auto form = static_cast<uint8_t>(prediction);
    if (exact) {
      candidate.byte(form | kExact);
      best = std::move(candidate);
      break;
    }
    residuals(missed, form, candidate);
    keep_smaller(best, std::move(candidate));
    best_estimate = size;
  }
  out.raw(best->str());
}

bool ColumnWriter::scaled(std::span<const double> values, ByteWriter& out) const {
  const auto found = find_scale(values);
  if (!found) return false;
  uint8_t form = static_cast<uint8_t>(DoubleForm::scaled);
  if (found->times) form |= kTimes;
  if (!found->corrections.empty()) form |= kCorrected;
  out.byte(form);
  out.byte(static_cast<uint8_t>(found->digits));
  integers(found->integers, out);
  if (!found->corrections.empty()) integers(found->corrections, out);
  return true;
}

void ColumnWriter::words(std::span<const double> values, ByteWriter& out) const {
  const auto form = static_cast<uint8_t>(DoubleForm::words);
  std::vector<uint64_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(), bits_of);
  std::vector<uint64_t> xored(bits);
  for (size_t i = 1; i < bits.size(); ++i) xored[i] = bits[i] ^ bits[i - 1];
  std::optional<ByteWriter> best;
  const auto attempt = [&](uint8_t layout, std::string bytes) {
    const Body tried = body(std::move(bytes));
    ByteWriter candidate;
    candidate.byte(form | layout | (tried.packed ? kPacked : 0));
    candidate.text(tried.bytes);
    keep_smaller(best, std::move(candidate));
  };
  attempt(kXor | kPlanes, planes(xored));
  if (packer_ != nullptr) {
    ByteWriter plain;
    for (const auto word : bits) plain.fixed64(word);
    attempt(0, plain.take());
    attempt(kPlanes, planes(bits));
  }
  out.raw(best->str());
}

void ColumnWriter::doubles(std::span<const double> values, ByteWriter& out) const {
  const bool constant = std::all_of(values.begin(), values.end(),
                                    [&](double v) { return bits_of(v) == bits_of(values[0]); });
  if (constant) {
    out.byte(static_cast<uint8_t>(DoubleForm::constant));
    out.fixed64(bits_of(values[0]));
    return;
  }
  ByteWriter as_scaled;
  const bool can_scale = scaled(values, as_scaled);
  if (can_scale && packer_ == nullptr) {
    out.raw(as_scaled.str());
    return;
  }
  ByteWriter as_words;
  words(values, as_words);
  out.raw(can_scale && as_scaled.size() <= as_words.size() ? as_scaled.str() : as_words.str());
}

}  // namespace assay::store
