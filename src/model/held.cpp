// SPDX-License-Identifier: Apache-2.0
#include "held.h"

namespace assay::model {
namespace {

// Declared first, so that a list of each can be summed.
size_t held_bytes(const std::string& text);
size_t held_bytes(const Tensor& tensor);
size_t held_bytes(const ValueInfo& info);
size_t held_bytes(const Graph& graph);

template <class T>
size_t sum_of(const std::vector<T>& list) {
  size_t bytes = 0;
  for (const auto& one : list) bytes += held_bytes(one);
  return bytes;
}

size_t held_bytes(const std::string& text) {
  return sizeof text + text.size();
}

size_t held_bytes(const Tensor& tensor) {
  const size_t numbers = tensor.dims.size() + (tensor.numbers ? tensor.numbers->size() : 0);
  return sizeof tensor + tensor.name.size() + tensor.location.size() + numbers * sizeof(double);
}

size_t held_bytes(const ValueInfo& info) {
  size_t bytes = sizeof info + info.name.size() + info.dims.size() * sizeof(Dimension);
  for (const auto& dim : info.dims) bytes += dim.name.size();
  return bytes;
}

size_t held_bytes(const Graph& graph) {
  return sizeof graph + graph.name.size() + sum_of(graph.nodes) + sum_of(graph.initializers) +
         sum_of(graph.inputs) + sum_of(graph.outputs) + sum_of(graph.values);
}

}  // namespace

size_t held_bytes(const Known& known) {
  const size_t dims = known.dims ? known.dims->size() : 0;
  const size_t numbers = known.numbers ? known.numbers->size() : 0;
  return dims * sizeof(int64_t) + numbers * sizeof(double);
}

size_t held_bytes(const Attribute& attribute) {
  const size_t numbers = attribute.integers.size() + attribute.reals.size();
  return sizeof attribute + attribute.name.size() + attribute.reference.size() +
         attribute.text.size() + numbers * sizeof(double) +
         (attribute.tensor ? held_bytes(*attribute.tensor) : 0) + sum_of(attribute.graphs);
}

size_t held_bytes(const Node& node) {
  return sizeof node + node.name.size() + node.op.size() + node.domain.size() +
         sum_of(node.inputs) + sum_of(node.outputs) + sum_of(node.attributes);
}

}  // namespace assay::model
