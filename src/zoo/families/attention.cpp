// SPDX-License-Identifier: Apache-2.0
#include "attention.h"

#include <cmath>
#include <fmt/format.h>

namespace assay::zoo {

TransformerSize transformer_size(Net& net, const Plan& plan, const TransformerSize& published) {
  constexpr int64_t kPerHead = 64;
  const Recipe& recipe = plan.recipe;
  TransformerSize size = published;
  size.layers = recipe.layers.value_or(plan.repeats(published.layers));
  if (recipe.width != 1) {
    const double scaled = static_cast<double>(published.hidden) * recipe.width / kPerHead;
    size.heads = std::max<int64_t>(1, std::llround(scaled));
    size.hidden = size.heads * kPerHead;
  }
  if (recipe.hidden) {
    size.hidden = *recipe.hidden;
    size.heads = std::max<int64_t>(1, size.hidden / kPerHead);
  }
  size.heads = recipe.heads.value_or(size.heads);
  if (size.hidden % size.heads != 0) {
    net.graph().refuse(fmt::format("{} features cannot be divided among {} heads: choose --heads",
                                   size.hidden, size.heads));
    size.heads = 1;
  }
  return size;
}

Tensor attention(Net& net, const Tensor& x, int64_t heads) {
  const int64_t batch = x.shape[0];
  const int64_t positions = x.shape[1];
  const int64_t each = x.shape[2] / heads;
  const auto part = [&](const Shape& order) {
    return net.transpose(net.reshape(net.project(x, x.shape[2]), {batch, positions, heads, each}),
                         order);
  };
  const Tensor query = part({0, 2, 1, 3});
  const Tensor key = part({0, 2, 3, 1});
  const Tensor value = part({0, 2, 1, 3});
  const Tensor scale = net.graph().constant(1.0F / std::sqrt(static_cast<float>(each)));
  const Tensor shares = net.softmax(net.multiply(net.matmul(query, key), scale));
  const Tensor seen = net.transpose(net.matmul(shares, value), {0, 2, 1, 3});
  return net.project(net.reshape(seen, x.shape), x.shape[2]);
}

Tensor feed_forward(Net& net, const Tensor& x) {
  const Tensor wide = net.activate(net.project(x, 4 * x.shape[2]), Activation::gelu);
  return net.project(wide, x.shape[2]);
}

}  // namespace assay::zoo
