// SPDX-License-Identifier: Apache-2.0
// Products of matrices, recurrent layers, normalization, attention.
#include "rules.h"

#include <map>

#include <assay/base/text.h>

namespace assay::model::rules {
namespace {

void matmul_of(Call& call, Dims a, Dims b) {
  if (a.empty() || b.empty()) return;
  const bool row = a.size() == 1;
  const bool column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  Dims dims = broadcast(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2));
  if (!row) dims.push_back(a[a.size() - 2]);
  if (!column) dims.push_back(b.back());
  call.set(0, dims);
}

void swap_last(Dims& dims) {
  if (dims.size() >= 2) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
}

}  // namespace

void gemm(Call& call) {
  if (call.rank(0) != 2 || call.rank(1) != 2) return;
  const bool left = call.integer("transA", 0) != 0;
  const bool right = call.integer("transB", 0) != 0;
  call.set(0, {call.dim(0, left ? 1 : 0), call.dim(1, right ? 0 : 1)});
}

void matmul(Call& call) {
  if (call.dims(0) == nullptr || call.dims(1) == nullptr) return;
  Dims a = *call.dims(0);
  Dims b = *call.dims(1);
  if (call.integer("transA", 0) != 0) swap_last(a);
  if (call.integer("transB", 0) != 0) swap_last(b);
  matmul_of(call, a, b);
}

void integer_matmul(Call& call) {
  matmul(call);
  call.set_type(0, call.node.op == "MatMulInteger" ? kInt32 : kFloat);
}

void quantized_matmul(Call& call) {
  if (call.dims(0) == nullptr || call.dims(3) == nullptr) return;
  matmul_of(call, *call.dims(0), *call.dims(3));
  call.set_type(0, call.in(7).type);
}

/// Weights in blocks of a few bits: [N, K] are attributes.
void packed_matmul(Call& call) {
  const Dims* in = call.dims(0);
  if (in == nullptr || in->empty()) return;
  Dims dims = *in;
  dims.back() = call.integer("N", kUnknownDim);
  call.set(0, dims);
}

void einsum(Call& call) {
  std::string equation;
  for (const char c : call.text("equation")) {
    if (c != ' ') equation += c;
  }
  const size_t arrow = equation.find("->");
  if (arrow == std::string::npos || equation.find('.') != std::string::npos) return;
  std::map<char, int64_t> letters;
  std::string_view left = std::string_view(equation).substr(0, arrow);
  for (size_t i = 0; i < call.inputs(); ++i) {
    const std::string_view term = next_field(left, ',');
    if (call.rank(i) != term.size()) return;
    for (size_t j = 0; j < term.size(); ++j)
      letters[term[j]] = letters.contains(term[j]) ? broadcast_dim(letters[term[j]], call.dim(i, j))
                                                   : call.dim(i, j);
  }
  Dims dims;
  for (const char letter : std::string_view(equation).substr(arrow + 2)) {
    const auto found = letters.find(letter);
    dims.push_back(found == letters.end() ? kUnknownDim : found->second);
  }
  call.set(0, dims);
}

void recurrent(Call& call) {
  if (call.rank(0) != 3) return;
  const bool batch_first = call.integer("layout", 0) != 0;
  const int64_t steps = call.dim(0, batch_first ? 1 : 0);
  const int64_t batch = call.dim(0, batch_first ? 0 : 1);
  const int64_t hidden = call.integer("hidden_size", call.dim(2, 2));
  const int64_t ways = call.text("direction") == "bidirectional" ? 2 : 1;
  const Dims last = batch_first ? Dims{batch, ways, hidden} : Dims{ways, batch, hidden};
  call.set(0, batch_first ? Dims{batch, steps, ways, hidden} : Dims{steps, ways, batch, hidden});
  call.set(1, last);
  call.set(2, last);
  for (size_t i = 0; i < call.out.size(); ++i) call.set_type(i, call.in(0).type);
}

/// Beside the result perhaps mean and deviation, of the dimensions before the axis.
void normalization(Call& call) {
  same(call);
  const Dims* in = call.dims(0);
  if (in == nullptr || call.out.size() < 2) return;
  const auto axis = axis_of(call.integer("axis", -1), in->size());
  if (!axis) return;
  Dims dims = *in;
  for (size_t i = *axis; i < dims.size(); ++i) dims[i] = 1;
  for (size_t i = 1; i < call.out.size(); ++i) {
    call.set(i, dims);
    call.set_type(i, kFloat);
  }
}

void batch_normalization(Call& call) {
  same(call);
  for (size_t i = 1; i < call.out.size(); ++i) {
    call.set(i, {call.dim(0, 1)});
    call.set_type(i, call.in(3).type);
  }
}

void skip_normalization(Call& call) {
  same(call);
  if (call.dims(0) != nullptr) call.set(3, *call.dims(0));
}

/// Ids [batch, length]; tables of words, places and segments of hidden width.
void embed_normalization(Call& call) {
  call.set_type(0, call.in(2).type);
  if (call.rank(0) == 2) call.set(0, {call.dim(0, 0), call.dim(0, 1), call.dim(2, 1)});
  call.set(1, {call.dim(0, 0)});
  call.set_type(1, kInt32);
}

/// Queries, keys and values as separate inputs: [batch, heads, length, width], or of rank 3.
void attention(Call& call) {
  const Dims* query = call.dims(0);
  if (query == nullptr || query->size() < 3) return;
  Dims dims = *query;
  if (dims.size() == 4 && call.rank(2) == 4) dims[3] = call.dim(2, 3);
  if (dims.size() == 3 && call.rank(2) == 3) {
    const int64_t heads = std::max<int64_t>(1, call.integer("q_num_heads", 1));
    const int64_t other = std::max<int64_t>(1, call.integer("kv_num_heads", 1));
    const int64_t width = call.dim(2, 2);
    dims[2] = width < 0 ? kUnknownDim
                        : dim_from(static_cast<double>(width / other) * static_cast<double>(heads));
  }
  call.set(0, dims);
}

/// One input, and weights [width, 3 * hidden] that make all three.
void fused_attention(Call& call) {
  if (call.rank(0) != 3) return;
  const Dims parts = call.integers("qkv_hidden_sizes");
  const int64_t all = call.dim(1, 1);
  const int64_t hidden = parts.size() == 3 ? parts[2] : all < 0 ? kUnknownDim : all / 3;
  call.set(0, {call.dim(0, 0), call.dim(0, 1), hidden});
}

/// MultiHeadAttention and GroupQueryAttention: the output is as wide as the query.
void heads_attention(Call& call) {
  const Dims* query = call.dims(0);
  if (query != nullptr && query->size() == 3) call.set(0, *query);
}

void loss(Call& call) {
  const bool kept = call.text("reduction") == "none";
  if (!kept) call.set(0, {});
  if (kept && call.dims(1) != nullptr) call.set(0, *call.dims(1));
  if (call.dims(0) != nullptr) call.set(1, *call.dims(0));
  call.set_type(1, call.in(0).type);
}

void grid_sample(Call& call) {
  const Dims* grid = call.dims(1);
  if (grid == nullptr || grid->size() < 3 || call.rank(0) != grid->size()) return;
  Dims dims = {call.dim(0, 0), call.dim(0, 1)};
  dims.insert(dims.end(), grid->begin() + 1, grid->end() - 1);
  call.set(0, dims);
}

namespace {

/// Factors for the axes, from an input or, in old opsets, an attribute.
std::vector<double> factors_of(const Call& call, bool old) {
  const auto* given = call.numbers(old ? 1 : 2);
  if (given != nullptr) return *given;
  const auto* attribute = call.node.attribute("scales");
  return attribute != nullptr ? attribute->reals : std::vector<double>();
}

Dims resized_axes(const Call& call) {
  Dims axes = call.integers("axes");
  if (!axes.empty()) return axes;
  for (size_t i = 0; i < call.rank(0); ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

bool keeps_aspect(const Call& call) {
  const std::string_view policy = call.text("keep_aspect_ratio_policy");
  return !policy.empty() && policy != "stretch";
}

}  // namespace

void resize(Call& call) {
  const Dims* in = call.dims(0);
  if (in == nullptr) return;
  const bool old = call.node.op == "Upsample" || (call.inputs() == 2 && call.opset < 11);
  const Dims axes = resized_axes(call);
  const auto sizes = old ? std::nullopt : call.sizes(3);
  const auto factors = factors_of(call, old);
  const bool by_size = sizes && sizes->size() == axes.size() && !keeps_aspect(call);
  if (!by_size && factors.size() != axes.size()) return call.set(0, Dims(in->size(), kUnknownDim));
  Dims dims = *in;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = axis_of(axes[i], dims.size());
    if (!axis) return;
    int64_t& dim = dims[*axis];
    if (by_size) {
      dim = (*sizes)[i];
    } else if (dim >= 0) {
      dim = dim_from(static_cast<double>(dim) * factors[i] + 1e-6);
    }
  }
  call.set(0, dims);
}

}  // namespace assay::model::rules
