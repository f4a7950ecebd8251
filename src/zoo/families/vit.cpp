// SPDX-License-Identifier: Apache-2.0
#include "attention.h"

namespace assay::zoo {
namespace {

constexpr int64_t kPatch = 16;
constexpr float kEpsilon = 1e-6F;

TransformerSize published(std::string_view variant) {
  if (variant == "ti") return {12, 192, 3};
  if (variant == "s") return {12, 384, 6};
  return {12, 768, 12};
}

/// The image as a row of patches, behind a first one that will collect the answer.
Tensor patches(Net& net, const Plan& plan, int64_t hidden) {
  const Tensor cut =
      net.conv(image(net, plan), hidden, {.kernel = kPatch, .stride = kPatch, .pad = 0});
  const Tensor flat = net.reshape(cut, {plan.batch(), hidden, cut.shape[2] * cut.shape[3]});
  const Tensor row = net.transpose(flat, {0, 2, 1});
  Tensor first = net.graph().weight("class_token", {1, 1, hidden}, -0.5F, 0.5F);
  if (plan.batch() > 1) first = net.expand(first, {plan.batch(), 1, hidden});
  const Tensor all = net.concat({first, row});
  const Shape places{1, all.shape[1], hidden};
  return net.add(all, net.graph().weight("positions", places, -0.5F, 0.5F));
}

}  // namespace

void vit(Net& net, const Plan& plan) {
  const auto [layers, hidden, heads] = transformer_size(net, plan, published(plan.variant));
  Tensor x = patches(net, plan, hidden);
  for (int64_t at = 0; at < layers; ++at) {
    x = net.add(x, attention(net, net.layer_norm(x, kEpsilon), heads));
    x = net.add(x, feed_forward(net, net.layer_norm(x, kEpsilon)));
  }
  x = net.slice(net.layer_norm(x, kEpsilon), 1, 0, 1);
  net.graph().output(net.linear(net.reshape(x, {plan.batch(), hidden}), plan.classes));
}

}  // namespace assay::zoo
