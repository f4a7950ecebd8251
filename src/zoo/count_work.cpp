// SPDX-License-Identifier: Apache-2.0
#include "count_work.h"

#include <map>

namespace assay::zoo {
namespace {

using Shapes = std::map<std::string, Shape>;

int64_t macs_of(const Node& node, const Shapes& shapes) {
  const auto shape = [&](size_t input) { return shapes.at(node.inputs[input]); };
  const Shape& out = shapes.at(node.output);
  // Every number that comes out of a convolution takes one kernel without its output channels.
  if (node.op == "Conv") return count_of(out) * count_of(shape(1)) / shape(1)[0];
  if (node.op == "ConvTranspose") return count_of(shape(0)) * count_of(shape(1)) / shape(1)[0];
  if (node.op == "Gemm") return count_of(out) * shape(0)[1];
  if (node.op == "MatMul") return count_of(out) * shape(0).back();
  if (node.op == "LSTM") {
    return shape(0)[0] * shape(0)[1] * (count_of(shape(1)) + count_of(shape(2)));
  }
  return 0;
}

}  // namespace

int64_t count_macs(const Graph& graph) {
  Shapes shapes;
  for (const auto& input : graph.inputs()) shapes[input.tensor.name] = input.tensor.shape;
  for (const auto& weight : graph.weights()) shapes[weight.name] = weight.shape;
  for (const auto& node : graph.nodes()) shapes[node.output] = node.shape;
  int64_t sum = 0;
  for (const auto& node : graph.nodes()) sum += macs_of(node, shapes);
  return sum;
}

}  // namespace assay::zoo
