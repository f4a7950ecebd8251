// SPDX-License-Identifier: Apache-2.0
#include "scan_tensor.h"

#include <bit>
#include <cstring>

#include <assay/base/text.h>

namespace assay::model {
namespace {

/// What a tensor's message says of its numbers, before they are made sense of.
struct Payload {
  std::string_view raw;
  std::vector<double> typed;
  std::vector<int64_t> integers;
};

double half_to_double(uint16_t bits) {
  const uint32_t exponent = (bits >> 10U) & 31U;
  const uint32_t fraction = bits & 1023U;
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16U;
  if (exponent == 0) return (sign != 0 ? -1 : 1) * static_cast<double>(fraction) / 16777216.0;
  const uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23U) | (fraction << 13U));
}

template <class T>
double number_at(const char* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

using Reader = double (*)(const char*);

Reader reader_of(int type) {
  switch (type) {
    case kFloat:
      return number_at<float>;
    case kDouble:
      return number_at<double>;
    case kFloat16:
      return [](const char* at) {
        return half_to_double(static_cast<uint16_t>(number_at<uint16_t>(at)));
      };
    case kInt64:
      return number_at<int64_t>;
    case kInt32:
      return number_at<int32_t>;
    case kInt8:
      return number_at<int8_t>;
    case kUint8:
    case kBool:
      return number_at<uint8_t>;
    default:
      return nullptr;
  }
}

std::optional<std::vector<double>> numbers_of(const Tensor& tensor, const Payload& payload) {
  const double elements = tensor.elements();
  if (elements > kSmallTensor || tensor.place == Place::external) return std::nullopt;
  const auto count = static_cast<size_t>(elements);
  std::vector<double> numbers;
  numbers.reserve(count);
  const auto size = static_cast<size_t>(element_bytes(tensor.type));
  const Reader reader = reader_of(tensor.type);
  if (reader == nullptr) return std::nullopt;
  if (payload.raw.size() == count * size) {
    for (size_t i = 0; i < count; ++i) numbers.push_back(reader(payload.raw.data() + i * size));
  } else if (payload.typed.size() == count) {
    numbers = payload.typed;
  } else if (payload.integers.size() == count) {
    for (const int64_t value : payload.integers) {
      numbers.push_back(tensor.type == kFloat16 ? half_to_double(static_cast<uint16_t>(value))
                                                : static_cast<double>(value));
    }
  }
  if (numbers.size() != count) return std::nullopt;
  return numbers;
}

void external_entry(Tensor& tensor, std::string_view message, Progress& progress) {
  auto [key, value] = scan_entry(message, progress);
  if (key == "location") tensor.location = std::move(value);
  if (key == "offset") tensor.offset = parse_uint(value).value_or(0);
  if (key == "length") tensor.length = parse_uint(value).value_or(0);
}

void payload_field(Fields& fields, Tensor& tensor, Payload& payload) {
  constexpr size_t kMost = kSmallTensor + 1;
  tensor.stored_bytes += fields.is_bytes() ? fields.bytes().size() : 4;
  tensor.place = fields.tag() == 9 ? Place::raw : Place::typed;
  switch (fields.tag()) {
    case 4:
      return fields.reals(payload.typed, kMost);
    case 10:
      return fields.reals64(payload.typed, kMost);
    case 9:
      payload.raw = fields.bytes();
      return;
    case 5:
    case 7:
    case 11:
      return fields.integers(payload.integers, kMost);
    default:
      return;
  }
}

void tensor_field(Fields& fields, Tensor& tensor, Payload& payload) {
  switch (fields.tag()) {
    case 1:
      return fields.integers(tensor.dims, kMostDims);
    case 2:
      tensor.type = static_cast<int>(fields.integer());
      return;
    case 8:
      tensor.name = fields.text();
      return;
    case 13:
      return external_entry(tensor, fields.bytes(), fields.progress());
    case 14:
      if (fields.integer() == 1) tensor.place = Place::external;
      return;
    case 4:
    case 5:
    case 6:
    case 7:
    case 9:
    case 10:
    case 11:
      return payload_field(fields, tensor, payload);
    default:
      return;
  }
}

void scan_shape(std::string_view message, ValueInfo& info, Progress& progress) {
  info.has_shape = true;
  Fields dims(message, progress, "shape");
  while (dims.next()) {
    if (dims.tag() != 1) continue;
    if (info.dims.size() >= kMostDims)
      return progress.fail("more than 64 dimensions", message.data());
    progress.keep(0, sizeof(Dimension), message.data());
    Dimension& dim = info.dims.emplace_back();
    Fields parts(dims.bytes(), progress, "dimension");
    while (parts.next()) {
      if (parts.tag() == 1) dim.size = parts.integer();
      if (parts.tag() == 2) dim.name = parts.text();
    }
  }
}

/// A tensor's type, dense or sparse; of sequences, maps and the like only that they are none.
void scan_type(std::string_view message, ValueInfo& info, Progress& progress) {
  Fields kinds(message, progress, "type");
  while (kinds.next()) {
    if (kinds.tag() != 1 && kinds.tag() != 8) continue;
    info.is_tensor = true;
    Fields fields(kinds.bytes(), progress, "tensor type");
    while (fields.next()) {
      if (fields.tag() == 1) info.type = static_cast<int>(fields.integer());
      if (fields.tag() == 2) scan_shape(fields.bytes(), info, progress);
    }
  }
}

}  // namespace

std::pair<std::string, std::string> scan_entry(std::string_view message, Progress& progress) {
  std::pair<std::string, std::string> entry;
  Fields fields(message, progress, "entry");
  while (fields.next()) {
    if (fields.tag() == 1) entry.first = fields.text();
    if (fields.tag() == 2) entry.second = fields.text();
  }
  return entry;
}

Tensor scan_tensor(std::string_view message, Progress& progress) {
  Tensor tensor;
  tensor.message = message;
  Payload payload;
  progress.keep(1, sizeof(Tensor), message.data());
  Fields fields(message, progress, "tensor");
  while (fields.next()) tensor_field(fields, tensor, payload);
  if (!tensor.location.empty()) tensor.place = Place::external;
  for (const int64_t dim : tensor.dims) {
    if (dim < 0) progress.fail("a weight of negative size", message.data());
  }
  tensor.numbers = numbers_of(tensor, payload);
  const size_t numbers = tensor.numbers ? tensor.numbers->size() : 0;
  progress.keep(0, (tensor.dims.size() + numbers) * sizeof(double), message.data());
  return tensor;
}

Tensor scan_sparse_tensor(std::string_view message, Progress& progress) {
  Tensor tensor;
  std::vector<int64_t> dims;
  Fields fields(message, progress, "sparse tensor");
  while (fields.next()) {
    if (fields.tag() == 1) tensor = scan_tensor(fields.bytes(), progress);
    if (fields.tag() == 3) fields.integers(dims, kMostDims);
  }
  tensor.dims = dims;
  tensor.numbers.reset();
  tensor.sparse = true;
  tensor.message = message;
  return tensor;
}

ValueInfo scan_value_info(std::string_view message, Progress& progress) {
  ValueInfo info;
  info.message = message;
  progress.keep(1, sizeof(ValueInfo), message.data());
  Fields fields(message, progress, "value");
  while (fields.next()) {
    if (fields.tag() == 1) info.name = fields.text();
    if (fields.tag() == 2) scan_type(fields.bytes(), info, progress);
  }
  return info;
}

}  // namespace assay::model
