// SPDX-License-Identifier: Apache-2.0
#include "family.h"

namespace assay::zoo {
namespace {

constexpr float kBranch = 0.4F;

struct Layout {
  std::array<int64_t, 4> blocks;
  int64_t expansion;  ///< of the bottleneck; 1: two convolutions of 3 x 3 without one
};

Layout layout(std::string_view variant) {
  if (variant == "18") return {{2, 2, 2, 2}, 1};
  if (variant == "34") return {{3, 4, 6, 3}, 1};
  if (variant == "50") return {{3, 4, 6, 3}, 4};
  if (variant == "101") return {{3, 4, 23, 3}, 4};
  return {{3, 8, 36, 3}, 4};
}

Tensor block(Net& net, const Tensor& x, int64_t channels, int64_t expansion, int64_t stride) {
  const int64_t out = channels * expansion;
  Tensor y = x;
  if (expansion == 1) {
    y = net.conv_bn_relu(y, channels, {.kernel = 3, .stride = stride});
    y = net.conv_bn(y, out, {.kernel = 3, .gain = kBranch});
  } else {
    y = net.conv_bn_relu(y, channels, {});
    y = net.conv_bn_relu(y, channels, {.kernel = 3, .stride = stride});
    y = net.conv_bn(y, out, {.gain = kBranch});
  }
  const bool fits = stride == 1 && x.shape[1] == out;
  return net.relu(net.add(y, fits ? x : net.conv_bn(x, out, {.stride = stride, .gain = 0.7F})));
}

}  // namespace

void resnet(Net& net, const Plan& plan) {
  const auto [blocks, expansion] = layout(plan.variant);
  Tensor x = image(net, plan);
  x = net.conv_bn_relu(x, plan.channels(64), {.kernel = 7, .stride = 2});
  x = net.max_pool(x, {.kernel = 3, .stride = 2, .pad = 1});
  int64_t channels = 64;
  for (const int64_t published : blocks) {
    for (int64_t at = 0; at < plan.repeats(published); ++at) {
      const int64_t stride = at == 0 && channels != 64 ? 2 : 1;
      x = block(net, x, plan.channels(channels), expansion, stride);
    }
    channels *= 2;
  }
  net.graph().output(net.classify(x, plan.classes));
}

}  // namespace assay::zoo
