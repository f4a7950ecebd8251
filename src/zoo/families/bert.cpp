// SPDX-License-Identifier: Apache-2.0
#include "attention.h"

#include <numeric>

namespace assay::zoo {
namespace {

constexpr int64_t kWords = 30522;
constexpr int64_t kPositions = 512;
constexpr float kEpsilon = 1e-12F;

TransformerSize published(std::string_view variant) {
  if (variant == "tiny") return {2, 128, 2};
  if (variant == "mini") return {4, 256, 4};
  if (variant == "small") return {4, 512, 8};
  if (variant == "medium") return {8, 512, 8};
  if (variant == "base") return {12, 768, 12};
  return {24, 1024, 16};
}

Tensor embedding(Net& net, const Plan& plan, int64_t hidden) {
  const int64_t length = plan.recipe.sequence.value_or(128);
  Graph& graph = net.graph();
  const Tensor ids = graph.input("input_ids", {plan.batch(), length}, true);
  const Tensor words = graph.weight("words", {kWords, hidden}, -1, 1);
  const Tensor places =
      graph.weight("positions", {std::max(kPositions, length), hidden}, -0.5F, 0.5F);
  const Tensor kinds = graph.weight("segments", {2, hidden}, -0.5F, 0.5F);
  Shape row(static_cast<size_t>(length));
  std::iota(row.begin(), row.end(), 0);
  Tensor x = net.gather(words, ids, {plan.batch(), length, hidden});
  x = net.add(x, net.gather(places, graph.constant(row), {length, hidden}));
  x = net.add(x, net.gather(kinds, graph.constant(Shape{0}), {1, hidden}));
  return net.layer_norm(x, kEpsilon);
}

}  // namespace

void bert(Net& net, const Plan& plan) {
  const auto [layers, hidden, heads] = transformer_size(net, plan, published(plan.variant));
  Tensor x = embedding(net, plan, hidden);
  for (int64_t at = 0; at < layers; ++at) {
    x = net.layer_norm(net.add(x, attention(net, x, heads)), kEpsilon);
    x = net.layer_norm(net.add(x, feed_forward(net, x)), kEpsilon);
  }
  x = net.reshape(net.slice(x, 1, 0, 1), {plan.batch(), hidden});
  x = net.activate(net.linear(x, hidden), Activation::tanh);
  net.graph().output(plan.classes > 0 ? net.linear(x, plan.classes) : x);
}

}  // namespace assay::zoo
