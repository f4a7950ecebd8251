// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include <assay/model/graph.h>

namespace assay::model {
namespace {

struct Element {
  std::string_view name;
  double bytes;
  bool real;
};

/// By ONNX's number of the type.
constexpr std::array<Element, 24> kElements = {{
    {"undefined", 0, false},     {"float32", 4, true},    {"uint8", 1, false},
    {"int8", 1, false},          {"uint16", 2, false},    {"int16", 2, false},
    {"int32", 4, false},         {"int64", 8, false},     {"string", 0, false},
    {"bool", 1, false},          {"float16", 2, true},    {"float64", 8, true},
    {"uint32", 4, false},        {"uint64", 8, false},    {"complex64", 8, true},
    {"complex128", 16, true},    {"bfloat16", 2, true},   {"float8e4m3fn", 1, true},
    {"float8e4m3fnuz", 1, true}, {"float8e5m2", 1, true}, {"float8e5m2fnuz", 1, true},
    {"uint4", 0.5, false},       {"int4", 0.5, false},    {"float4e2m1", 0.5, true},
}};

const Element* element(int type) {
  if (type < 0 || static_cast<size_t>(type) >= kElements.size()) return nullptr;
  return &kElements.at(static_cast<size_t>(type));
}

}  // namespace

double element_bytes(int type) {
  const auto* found = element(type);
  return found == nullptr ? 0 : found->bytes;
}

bool is_real(int type) {
  const auto* found = element(type);
  return found != nullptr && found->real;
}

std::string type_name(int type) {
  const auto* found = element(type);
  return found == nullptr ? fmt::format("type {}", type) : std::string(found->name);
}

double Tensor::elements() const {
  double product = 1;
  for (const int64_t dim : dims) product *= static_cast<double>(std::max<int64_t>(dim, 0));
  return product;
}

const Attribute* Node::attribute(std::string_view wanted) const {
  for (const auto& attribute : attributes) {
    if (attribute.name == wanted) return &attribute;
  }
  return nullptr;
}

}  // namespace assay::model
