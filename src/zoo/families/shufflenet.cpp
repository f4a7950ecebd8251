// SPDX-License-Identifier: Apache-2.0
#include "family.h"

namespace assay::zoo {
namespace {

/// Channels of the three stages and of the last convolution.
std::array<int64_t, 4> layout(std::string_view variant) {
  if (variant == "0.5") return {48, 96, 192, 1024};
  if (variant == "1.0") return {116, 232, 464, 1024};
  if (variant == "1.5") return {176, 352, 704, 1024};
  return {244, 488, 976, 2048};
}

/// Mixes the channels of two branches.
Tensor shuffle(Net& net, const Tensor& x) {
  const Shape& from = x.shape;
  Tensor y = net.reshape(x, {from[0], 2, from[1] / 2, from[2] * from[3]});
  y = net.transpose(y, {0, 2, 1, 3});
  return net.reshape(y, from);
}

Tensor branch(Net& net, const Tensor& x, int64_t channels, int64_t stride) {
  Tensor y = net.conv_bn_relu(x, channels, {});
  y = net.depthwise_bn(y, {.kernel = 3, .stride = stride});
  return net.conv_bn_relu(y, channels, {});
}

Tensor unit(Net& net, const Tensor& x, int64_t channels, bool first) {
  const int64_t half = channels / 2;
  if (first) {
    const Tensor left = net.depthwise_bn(x, {.kernel = 3, .stride = 2});
    return shuffle(net, net.concat({net.conv_bn_relu(left, half, {}), branch(net, x, half, 2)}));
  }
  const Tensor kept = net.slice(x, 1, 0, half);
  return shuffle(net, net.concat({kept, branch(net, net.slice(x, 1, half, channels), half, 1)}));
}

}  // namespace

void shufflenet(Net& net, const Plan& plan) {
  const auto channels = layout(plan.variant);
  constexpr std::array<int64_t, 3> kUnits{4, 8, 4};
  Tensor x = image(net, plan);
  x = net.conv_bn_relu(x, plan.channels(24), {.kernel = 3, .stride = 2});
  x = net.max_pool(x, {.kernel = 3, .stride = 2, .pad = 1});
  for (size_t stage = 0; stage < kUnits.size(); ++stage) {
    for (int64_t at = 0; at < plan.repeats(kUnits.at(stage)); ++at) {
      x = unit(net, x, plan.channels(channels.at(stage)), at == 0);
    }
  }
  x = net.conv_bn_relu(x, plan.channels(channels.back()), {});
  net.graph().output(net.classify(x, plan.classes));
}

}  // namespace assay::zoo
