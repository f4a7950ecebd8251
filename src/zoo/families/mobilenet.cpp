// SPDX-License-Identifier: Apache-2.0
#include "family.h"

namespace assay::zoo {
namespace {

constexpr float kBranch = 0.4F;

struct Stage {
  int64_t expansion;
  int64_t channels;
  int64_t blocks;
  int64_t stride;
};

constexpr std::array<Stage, 7> kStages{{{1, 16, 1, 1},
                                        {6, 24, 2, 2},
                                        {6, 32, 3, 2},
                                        {6, 64, 4, 2},
                                        {6, 96, 3, 1},
                                        {6, 160, 3, 2},
                                        {6, 320, 1, 1}}};

Tensor inverted(Net& net, const Tensor& x, int64_t channels, int64_t expansion, int64_t stride) {
  const bool added = stride == 1 && x.shape[1] == channels;
  Tensor y = x;
  if (expansion != 1) y = net.conv_bn(y, x.shape[1] * expansion, {.act = Activation::relu6});
  y = net.depthwise_bn(y, {.kernel = 3, .stride = stride, .act = Activation::relu6});
  y = net.conv_bn(y, channels, {.gain = added ? kBranch : 0.7F});
  return added ? net.add(y, x) : y;
}

void version_1(Net& net, const Plan& plan) {
  Tensor x = image(net, plan);
  x = net.conv_bn_relu(x, plan.channels(32), {.kernel = 3, .stride = 2});
  const auto separable = [&](int64_t channels, int64_t stride) {
    x = net.depthwise_bn(x, {.kernel = 3, .stride = stride, .act = Activation::relu});
    x = net.conv_bn_relu(x, plan.channels(channels), {});
  };
  separable(64, 1);
  for (const int64_t channels : {128, 256}) {
    separable(channels, 2);
    for (int64_t at = 0; at < plan.repeats(1); ++at) separable(channels, 1);
  }
  separable(512, 2);
  for (int64_t at = 0; at < plan.repeats(5); ++at) separable(512, 1);
  separable(1024, 2);
  for (int64_t at = 0; at < plan.repeats(1); ++at) separable(1024, 1);
  net.graph().output(net.classify(x, plan.classes));
}

void version_2(Net& net, const Plan& plan) {
  Tensor x = image(net, plan);
  x = net.conv_bn(x, plan.channels(32), {.kernel = 3, .stride = 2, .act = Activation::relu6});
  for (const auto& stage : kStages) {
    for (int64_t at = 0; at < plan.repeats(stage.blocks); ++at) {
      x = inverted(net, x, plan.channels(stage.channels), stage.expansion,
                   at == 0 ? stage.stride : 1);
    }
  }
  // The last layer stays as it is in narrow networks.
  const int64_t last = std::max<int64_t>(1280, plan.channels(1280));
  x = net.conv_bn(x, last, {.act = Activation::relu6});
  net.graph().output(net.classify(x, plan.classes));
}

}  // namespace

void mobilenet(Net& net, const Plan& plan) {
  if (plan.variant == "v1") return version_1(net, plan);
  if (plan.variant == "v2") return version_2(net, plan);
  mobilenet_v3(net, plan);
}

}  // namespace assay::zoo
