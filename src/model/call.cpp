// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <algorithm>
#include <cmath>

namespace assay::model {
namespace {

int64_t held(int64_t value) {
  return std::clamp(value, -kLargestDim, kLargestDim);
}

int64_t held(double value) {
  const auto most = static_cast<double>(kLargestDim);
  return std::isnan(value) ? 0 : static_cast<int64_t>(std::clamp(value, -most, most));
}

}  // namespace

double Known::elements() const {
  return dims ? product(*dims) : 0;
}

bool Known::complete() const {
  return dims && all_known(*dims);
}

Call::Call(const Node& called, int64_t version, std::vector<const Known*> inputs)
    : node(called), opset(version), out(called.outputs.size()), inputs_(std::move(inputs)) {}

const Known& Call::in(size_t i) const {
  static const Known kNothing;
  return has(i) ? *inputs_[i] : kNothing;
}

const Dims* Call::dims(size_t i) const {
  const Known& known = in(i);
  return known.dims ? &*known.dims : nullptr;
}

size_t Call::rank(size_t i) const {
  const Dims* found = dims(i);
  return found == nullptr ? 0 : found->size();
}

int64_t Call::dim(size_t i, size_t axis) const {
  const Dims* found = dims(i);
  return found == nullptr || axis >= found->size() ? kUnknownDim : (*found)[axis];
}

const std::vector<double>* Call::numbers(size_t i) const {
  const Known& known = in(i);
  return known.numbers ? &*known.numbers : nullptr;
}

std::optional<Dims> Call::sizes(size_t i) const {
  const auto* found = numbers(i);
  if (found == nullptr) return std::nullopt;
  Dims dims;
  dims.reserve(found->size());
  for (const double value : *found) dims.push_back(held(value));
  return dims;
}

int64_t Call::integer(std::string_view name, int64_t otherwise) const {
  const auto* found = node.attribute(name);
  return found != nullptr && found->integer ? held(*found->integer) : otherwise;
}

double Call::real(std::string_view name, double otherwise) const {
  const auto* found = node.attribute(name);
  return found != nullptr && found->real ? *found->real : otherwise;
}

std::string_view Call::text(std::string_view name) const {
  const auto* found = node.attribute(name);
  return found == nullptr ? std::string_view() : std::string_view(found->text);
}

Dims Call::integers(std::string_view name) const {
  const auto* found = node.attribute(name);
  Dims dims;
  if (found == nullptr) return dims;
  dims.reserve(found->integers.size());
  for (const int64_t value : found->integers) dims.push_back(held(value));
  return dims;
}

bool Call::has_attribute(std::string_view name) const {
  return node.attribute(name) != nullptr;
}

std::optional<Dims> Call::integers_or_input(std::string_view name, size_t input) const {
  if (has_attribute(name)) return integers(name);
  if (!has(input)) return Dims{};
  return sizes(input);
}

void Call::set(size_t output, Dims dims) {
  if (output >= out.size()) return;
  if (dims.size() > kMostDims) return out[output].dims.reset();
  for (int64_t& dim : dims) {
    if (dim < 0 || dim > kLargestDim) dim = kUnknownDim;
  }
  out[output].dims = std::move(dims);
}

void Call::set_type(size_t output, int type) {
  if (output < out.size()) out[output].type = type;
}

int64_t dim_from(double size) {
  return size >= 0 && size <= static_cast<double>(kLargestDim) ? static_cast<int64_t>(size)
                                                               : kUnknownDim;
}

double product(const Dims& dims) {
  return product(dims, 0, dims.size());
}

double product(const Dims& dims, size_t begin, size_t end) {
  double result = 1;
  for (size_t i = begin; i < end && i < dims.size(); ++i)
    result *= dims[i] < 0 ? 1 : static_cast<double>(dims[i]);
  return result;
}

bool all_known(const Dims& dims) {
  return std::all_of(dims.begin(), dims.end(), [](int64_t dim) { return dim >= 0; });
}

std::optional<size_t> axis_of(int64_t axis, size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  if (axis < -count || axis >= count) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + count : axis);
}

int64_t broadcast_dim(int64_t a, int64_t b) {
  if (a == 1) return b;
  if (b == 1) return a;
  return std::max(a, b);  // one unknown: the other; both known: they are equal
}

Dims broadcast(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims result = longer;
  const size_t lead = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i)
    result[lead + i] = broadcast_dim(longer[lead + i], shorter[i]);
  return result;
}

}  // namespace assay::model
