// SPDX-License-Identifier: Apache-2.0
#include "fields.h"

#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

namespace assay::model {
namespace {

constexpr size_t kMostItems = 2'000'000;
constexpr size_t kMostKept = size_t{256} << 20U;
constexpr ptrdiff_t kForgetEvery = ptrdiff_t{16} << 20U;

template <class T>
T from_bytes(const char* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

void Progress::fail(const std::string& what, const char* at) {
  if (failed()) return;
  error_ = fmt::format("{} at byte {}", what, at - bytes_.data());
}

void Progress::keep(size_t items, size_t bytes, const char* at) {
  items_ += items;
  kept_ += bytes;
  if (items_ > kMostItems) fail(fmt::format("more than {} parts", kMostItems), at);
  if (kept_ > kMostKept) fail("names and small tensors of more than 256 MiB", at);
}

void Progress::reached(const char* at) {
  if (mapped_ == nullptr || at - forgotten_ < kForgetEvery) return;
  mapped_->forget();
  forgotten_ = at;
}

bool Fields::number(const char*& at, const char* end, uint64_t& value) {
  try {
    value = protozero::decode_varint(&at, end);
    return true;
  } catch (const protozero::end_of_buffer_exception&) {
    progress_.fail(fmt::format("the {} is cut off", what_), at);
  } catch (const protozero::exception&) {
    progress_.fail(fmt::format("no number where the {} has one", what_), at);
  }
  return false;
}

bool Fields::fixed(size_t size) {
  if (static_cast<size_t>(end_ - at_) < size) {
    progress_.fail(fmt::format("the {} is cut off", what_), at_);
    return false;
  }
  number_ = size == 4 ? from_bytes<uint32_t>(at_) : from_bytes<uint64_t>(at_);
  at_ += size;
  return true;
}

bool Fields::delimited() {
  uint64_t length = 0;
  if (!number(at_, end_, length)) return false;
  const auto left = static_cast<uint64_t>(end_ - at_);
  if (length > left) {
    progress_.fail(
        fmt::format("the {} is cut off: its field {} has {} bytes, of which {} are there", what_,
                    tag_, length, left),
        at_);
    return false;
  }
  bytes_ = {at_, static_cast<size_t>(length)};
  at_ += length;
  return true;
}

bool Fields::next() {
  if (at_ == end_ || progress_.failed()) return false;
  start_ = at_;
  uint64_t key = 0;
  if (!number(at_, end_, key)) return false;
  progress_.reached(start_);
  wire_ = static_cast<uint32_t>(key & 7U);
  tag_ = static_cast<uint32_t>(key >> 3U);
  bytes_ = {start_, 0};
  number_ = 0;
  if (tag_ != 0 && key >> 32U == 0) {
    if (wire_ == 0) return number(at_, end_, number_);
    if (wire_ == 1) return fixed(8);
    if (wire_ == 2) return delimited();
    if (wire_ == 5) return fixed(4);
  }
  progress_.fail(fmt::format("no field of a {}", what_), start_);
  return false;
}

std::string Fields::text() {
  progress_.keep(0, bytes_.size(), start_);
  return progress_.failed() ? std::string() : std::string(bytes_);
}

float Fields::real() const {
  return std::bit_cast<float>(static_cast<uint32_t>(number_));
}

double Fields::real64() const {
  return std::bit_cast<double>(number_);
}

void Fields::integers(std::vector<int64_t>& out, size_t most) {
  if (!is_bytes()) {
    if (out.size() < most) out.push_back(integer());
    return;
  }
  const char* at = bytes_.data();
  const char* end = at + bytes_.size();
  uint64_t value = 0;
  while (at != end && out.size() < most && number(at, end, value))
    out.push_back(static_cast<int64_t>(value));
}

void Fields::reals(std::vector<double>& out, size_t most) {
  if (!is_bytes() && out.size() < most) out.push_back(real());
  for (size_t i = 0; i + 4 <= bytes_.size() && out.size() < most; i += 4)
    out.push_back(from_bytes<float>(bytes_.data() + i));
}

void Fields::reals64(std::vector<double>& out, size_t most) {
  if (!is_bytes() && out.size() < most) out.push_back(real64());
  for (size_t i = 0; i + 8 <= bytes_.size() && out.size() < most; i += 8)
    out.push_back(from_bytes<double>(bytes_.data() + i));
}

}  // namespace assay::model
