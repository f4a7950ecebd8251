// SPDX-License-Identifier: Apache-2.0
#include "family.h"

#include <cmath>

namespace assay::zoo {
namespace {

constexpr float kUngated = 2;  // a gate lets about half of what comes pass

struct Stage {
  int64_t expansion;
  int64_t kernel;
  int64_t stride;
  int64_t channels;
  int64_t blocks;
};

constexpr std::array<Stage, 7> kStages{{{1, 3, 1, 16, 1},
                                        {6, 3, 2, 24, 2},
                                        {6, 5, 2, 40, 2},
                                        {6, 3, 2, 80, 3},
                                        {6, 5, 1, 112, 3},
                                        {6, 5, 2, 192, 4},
                                        {6, 3, 1, 320, 1}}};

/// How much wider and deeper than the smallest one. The lite ones do without gates and swish, and
/// their first and last parts do not grow.
struct Scale {
  std::string_view variant;
  double width;
  double depth;
};

constexpr std::array<Scale, 13> kScales{{{"b0", 1.0, 1.0},
                                         {"b1", 1.0, 1.1},
                                         {"b2", 1.1, 1.2},
                                         {"b3", 1.2, 1.4},
                                         {"b4", 1.4, 1.8},
                                         {"b5", 1.6, 2.2},
                                         {"b6", 1.8, 2.6},
                                         {"b7", 2.0, 3.1},
                                         {"lite0", 1.0, 1.0},
                                         {"lite1", 1.0, 1.1},
                                         {"lite2", 1.1, 1.2},
                                         {"lite3", 1.2, 1.4},
                                         {"lite4", 1.4, 1.8}}};

const Scale& scale_of(std::string_view variant) {
  return *std::find_if(kScales.begin(), kScales.end(),
                       [&](const Scale& scale) { return scale.variant == variant; });
}

Tensor mbconv(Net& net, const Tensor& x, int64_t channels, const Stage& stage, bool lite) {
  const auto act = lite ? Activation::relu6 : Activation::swish;
  const bool added = stage.stride == 1 && x.shape[1] == channels;
  Tensor y = x;
  if (stage.expansion != 1) y = net.conv_bn(y, x.shape[1] * stage.expansion, {.act = act});
  y = net.depthwise_bn(y, {.kernel = stage.kernel, .stride = stage.stride, .act = act});
  if (!lite) {
    y = net.gate(y, std::max<int64_t>(1, x.shape[1] / 4), Activation::swish, Activation::sigmoid);
  }
  y = net.conv_bn(y, channels, {.gain = added ? 0.5F : (lite ? 1 : kUngated)});
  return added ? net.add(y, x) : y;
}

}  // namespace

void efficientnet(Net& net, const Plan& plan) {
  const bool lite = plan.variant.starts_with("lite");
  const auto act = lite ? Activation::relu6 : Activation::swish;
  const Scale& scale = scale_of(plan.variant);
  const auto wide = [&](int64_t channels) {
    return divisible(static_cast<double>(channels) * scale.width * plan.recipe.width);
  };
  Tensor x = image(net, plan);
  x = net.conv_bn(x, lite ? plan.channels(32) : wide(32), {.kernel = 3, .stride = 2, .act = act});
  for (const Stage& stage : kStages) {
    const bool edge = stage.channels == 16 || stage.channels == 320;
    const double depth = (lite && edge ? 1.0 : scale.depth) * plan.recipe.depth;
    const auto blocks = static_cast<int64_t>(std::ceil(static_cast<double>(stage.blocks) * depth));
    for (int64_t at = 0; at < blocks; ++at) {
      Stage now = stage;
      if (at > 0) now.stride = 1;
      x = mbconv(net, x, wide(stage.channels), now, lite);
    }
  }
  x = net.conv_bn(x, lite ? plan.channels(1280) : wide(1280), {.act = act});
  net.graph().output(net.classify(x, plan.classes));
}

}  // namespace assay::zoo
