// SPDX-License-Identifier: Apache-2.0
#include "family.h"

namespace assay::zoo {
namespace {

std::array<int64_t, 5> convolutions(std::string_view variant) {
  if (variant == "11") return {1, 1, 2, 2, 2};
  if (variant == "13") return {2, 2, 2, 2, 2};
  if (variant == "16") return {2, 2, 3, 3, 3};
  return {2, 2, 4, 4, 4};
}

Tensor dense_end(Net& net, const Plan& plan, const Tensor& x) {
  Tensor y = net.flatten(x);
  y = net.linear(y, plan.channels(4096), Activation::relu);
  y = net.linear(y, plan.channels(4096), Activation::relu);
  return net.linear(y, plan.classes);
}

}  // namespace

void vgg(Net& net, const Plan& plan) {
  Tensor x = image(net, plan);
  int64_t channels = 64;
  for (const int64_t published : convolutions(plan.variant)) {
    for (int64_t at = 0; at < plan.repeats(published); ++at) {
      x = net.conv(x, plan.channels(channels), {.kernel = 3, .act = Activation::relu});
    }
    x = net.max_pool(x, {.kernel = 2, .stride = 2});
    channels = std::min<int64_t>(channels * 2, 512);
  }
  net.graph().output(dense_end(net, plan, net.pool_to(x, 7)));
}

void alexnet(Net& net, const Plan& plan) {
  const auto conv = [&](const Tensor& x, int64_t channels, ConvOptions options) {
    options.act = Activation::relu;
    return net.conv(x, plan.channels(channels), options);
  };
  Tensor x = image(net, plan);
  x = conv(x, 64, {.kernel = 11, .stride = 4, .pad = 2});
  x = net.max_pool(x, {.kernel = 3, .stride = 2});
  x = conv(x, 192, {.kernel = 5});
  x = net.max_pool(x, {.kernel = 3, .stride = 2});
  x = conv(x, 384, {.kernel = 3});
  for (int64_t at = 0; at < plan.repeats(2); ++at) x = conv(x, 256, {.kernel = 3});
  x = net.max_pool(x, {.kernel = 3, .stride = 2});
  net.graph().output(dense_end(net, plan, net.pool_to(x, 6)));
}

}  // namespace assay::zoo
