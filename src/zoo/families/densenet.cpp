// SPDX-License-Identifier: Apache-2.0
#include "family.h"

namespace assay::zoo {
namespace {

std::array<int64_t, 4> layers(std::string_view variant) {
  if (variant == "121") return {6, 12, 24, 16};
  if (variant == "169") return {6, 12, 32, 32};
  return {6, 12, 48, 32};
}

Tensor bn_relu(Net& net, const Tensor& x) {
  return net.relu(net.bn(x));
}

/// The published one has no bias and no normalization behind its last convolution.
Tensor dense_layer(Net& net, const Tensor& x, int64_t growth) {
  const Tensor narrow = net.conv_bn_relu(bn_relu(net, x), 4 * growth, {});
  return net.concat({x, net.conv_bare(narrow, growth, {.kernel = 3})});
}

}  // namespace

void densenet(Net& net, const Plan& plan) {
  const int64_t growth = plan.channels(32);
  Tensor x = image(net, plan);
  x = net.conv_bn_relu(x, 2 * growth, {.kernel = 7, .stride = 2});
  x = net.max_pool(x, {.kernel = 3, .stride = 2, .pad = 1});
  bool first = true;
  for (const int64_t published : layers(plan.variant)) {
    if (!first) {
      x = net.conv_bare(bn_relu(net, x), x.shape[1] / 2, {});
      x = net.average_pool(x, {.kernel = 2, .stride = 2});
    }
    first = false;
    for (int64_t at = 0; at < plan.repeats(published); ++at) x = dense_layer(net, x, growth);
  }
  net.graph().output(net.classify(bn_relu(net, x), plan.classes));
}

}  // namespace assay::zoo
