// SPDX-License-Identifier: Apache-2.0
#include "work.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <assay/base/text.h>

namespace assay::model::work {
namespace {

double output_elements(const Call& call) {
  return call.out.empty() ? 0 : call.out.front().elements();
}

/// A dimension for multiplying: what is not known counts as 1.
double factor(int64_t dim) {
  return dim < 0 ? 1 : static_cast<double>(dim);
}

/// Products for one output of a convolution: channels of a group times the kernel.
Work conv_with(const Call& call, size_t weights) {
  const Dims* w = call.dims(weights);
  if (w == nullptr || w->size() < 2) return {};
  return {output_elements(call) * product(*w, 1, w->size()), 0, Traffic::all};
}

/// gates * hidden * (input + hidden) for each step, sequence and direction.
Work recurrent(const Call& call, double gates) {
  if (call.rank(0) != 3) return {};
  const double sequence = factor(call.dim(0, 0)) * factor(call.dim(0, 1));
  const double input = factor(call.dim(0, 2));
  const double hidden = factor(call.integer("hidden_size", call.dim(2, 2)));
  const double ways = call.text("direction") == "bidirectional" ? 2 : 1;
  const double products = sequence * ways * gates * hidden * (input + hidden);
  return {products, sequence * ways * gates * hidden * 4, Traffic::all};
}

}  // namespace

Work view(const Call& /*call*/) {
  return {0, 0, Traffic::none};
}

Work move(const Call& /*call*/) {
  return {};
}

Work pick(const Call& /*call*/) {
  return {0, 0, Traffic::picks};
}

Work make(const Call& /*call*/) {
  return {0, 0, Traffic::makes};
}

Work variadic(const Call& call) {
  const double others = std::max(1.0, static_cast<double>(call.inputs()) - 1);
  return {0, output_elements(call) * others, Traffic::all};
}

Work conv(const Call& call) {
  return conv_with(call, 1);
}

Work quantized_conv(const Call& call) {
  return conv_with(call, 3);
}

Work transposed_conv(const Call& call) {
  const Dims* w = call.dims(1);
  if (w == nullptr || w->size() < 2) return {};
  return {call.in(0).elements() * product(*w, 1, w->size()), 0, Traffic::all};
}

/// A convolution, and four products for each sample between pixels.
Work deform_conv(const Call& call) {
  Work work = conv_with(call, 1);
  work.flops = 8 * call.in(2).elements();
  return work;
}

Work pool(const Call& call) {
  return {0, output_elements(call) * product(call.integers("kernel_shape")), Traffic::all};
}

Work gemm(const Call& call) {
  const bool left = call.integer("transA", 0) != 0;
  return {output_elements(call) * factor(call.dim(0, left ? 0 : 1)), 0, Traffic::all};
}

Work matmul(const Call& call) {
  const size_t rank = call.rank(0);
  if (rank == 0) return {};
  const bool left = call.integer("transA", 0) != 0 && rank >= 2;
  return {output_elements(call) * factor(call.dim(0, left ? rank - 2 : rank - 1)), 0, Traffic::all};
}

Work packed_matmul(const Call& call) {
  return {output_elements(call) * factor(call.integer("K", 1)), 0, Traffic::all};
}

Work einsum(const Call& call) {
  std::string equation;
  for (const char c : call.text("equation")) {
    if (c != ' ') equation += c;
  }
  std::string_view left = std::string_view(equation).substr(0, equation.find("->"));
  std::map<char, double> letters;
  for (size_t i = 0; i < call.inputs(); ++i) {
    const std::string_view term = next_field(left, ',');
    for (size_t j = 0; j < term.size(); ++j)
      letters[term[j]] = std::max(letters[term[j]], factor(call.dim(i, j)));
  }
  double products = std::max(0.0, static_cast<double>(call.inputs()) - 1);
  for (const auto& [letter, size] : letters) products *= size;
  return {products, 0, Traffic::all};
}

Work lstm(const Call& call) {
  return recurrent(call, 4);
}

Work gru(const Call& call) {
  return recurrent(call, 3);
}

Work rnn(const Call& call) {
  return recurrent(call, 1);
}

/// Queries against keys, and the weights of that against values; the softmax between.
Work attention(const Call& call) {
  const size_t rank = call.rank(0);
  if (rank < 3) return {};
  const size_t key_rank = call.rank(1);
  const bool has_past = call.node.op == "Attention" && call.has(4);
  const double past = has_past ? factor(call.dim(4, 2)) : 0;
  const double keys = factor(call.dim(1, key_rank < 2 ? 0 : key_rank - 2)) + past;
  const double heads = rank == 4
                           ? factor(call.dim(0, 1))
                           : factor(call.integer("q_num_heads", call.integer("num_heads", 1)));
  const double queries = factor(call.dim(0, rank - 2));
  const double batch = factor(call.dim(0, 0));
  const double products = call.in(0).elements() * keys + output_elements(call) * keys;
  return {products, 5 * batch * heads * queries * keys, Traffic::all};
}

Work fused_attention(const Call& call) {
  if (call.rank(0) != 3) return {};
  const double batch = factor(call.dim(0, 0));
  const double length = factor(call.dim(0, 1));
  const double made = batch * length * factor(call.dim(0, 2)) * factor(call.dim(1, 1));
  const double keys = length + (call.has(4) ? factor(call.dim(4, 3)) : 0);
  const double mixed = 2 * output_elements(call) * keys;
  const double heads = factor(call.integer("num_heads", 1));
  return {made + mixed, 5 * batch * heads * length * keys, Traffic::all};
}

Work local_normalization(const Call& call) {
  return {0, output_elements(call) * (2 * factor(call.integer("size", 1)) + 3), Traffic::all};
}

/// Products and sums for the neighbours of each pixel, along the dimensions that change.
Work resize(const Call& call) {
  const std::string_view mode = call.text("mode");
  const double neighbours = mode == "linear" || mode == "bilinear" ? 2 : mode == "cubic" ? 4 : 0;
  if (neighbours == 0 || call.out.empty() || !call.out.front().dims) return {};
  double each = 2;
  for (size_t i = 0; i < call.rank(0); ++i) {
    if (i < call.out.front().dims->size() && call.dim(0, i) != (*call.out.front().dims)[i])
      each *= neighbours;
  }
  return {0, output_elements(call) * each, Traffic::all};
}

/// As a fast transform does it.
Work dft(const Call& call) {
  const double elements = std::max(1.0, output_elements(call));
  return {0, 5 * elements * std::log2(elements + 1), Traffic::all};
}

Work sort(const Call& call) {
  const double elements = std::max(1.0, call.in(0).elements());
  return {0, elements * std::log2(elements + 1), Traffic::all};
}

Work linear_model(const Call& call) {
  const auto* coefficients = call.node.attribute("coefficients");
  const double rows = factor(call.dim(0, 0));
  return {coefficients == nullptr ? 0 : rows * static_cast<double>(coefficients->reals.size()), 0,
          Traffic::all};
}

Work vector_machine(const Call& call) {
  const auto* vectors = call.node.attribute("support_vectors");
  const double rows = factor(call.dim(0, 0));
  return {vectors == nullptr ? 0 : rows * static_cast<double>(vectors->reals.size()), 0,
          Traffic::all};
}

/// One comparison a level of each tree, taken as balanced.
Work trees(const Call& call) {
  const auto* ids = call.node.attribute("nodes_treeids");
  if (ids == nullptr || ids->integers.empty()) return {};
  std::map<int64_t, double> sizes;
  for (const int64_t id : ids->integers) sizes[id] += 1;
  double levels = 0;
  for (const auto& [id, nodes] : sizes) levels += std::ceil(std::log2(nodes + 1));
  return {0, factor(call.dim(0, 0)) * levels, Traffic::all};
}

}  // namespace assay::model::work
