// SPDX-License-Identifier: Apache-2.0
#include "family.h"

namespace assay::zoo {
namespace {

constexpr auto kRelu = Activation::relu;
constexpr auto kSwish = Activation::hard_swish;

// Gates and hard swish let about half of what comes pass.
constexpr float kUngated = 1.5F;

struct Block {
  int64_t kernel;
  int64_t expanded;
  bool gated;
  Activation act;
  int64_t stride;
};

/// Blocks with the same number of channels behind them.
struct Stage {
  int64_t channels;
  std::vector<Block> blocks;
};

struct Layout {
  std::vector<Stage> stages;
  int64_t last;      ///< channels of the last convolution
  int64_t features;  ///< of the layer before the classes
};

Layout large() {
  return {
      {{16, {{3, 16, false, kRelu, 1}}},
       {24, {{3, 64, false, kRelu, 2}, {3, 72, false, kRelu, 1}}},
       {40, {{5, 72, true, kRelu, 2}, {5, 120, true, kRelu, 1}, {5, 120, true, kRelu, 1}}},
       {80,
        {{3, 240, false, kSwish, 2},
         {3, 200, false, kSwish, 1},
         {3, 184, false, kSwish, 1},
         {3, 184, false, kSwish, 1}}},
       {112, {{3, 480, true, kSwish, 1}, {3, 672, true, kSwish, 1}}},
       {160, {{5, 672, true, kSwish, 2}, {5, 960, true, kSwish, 1}, {5, 960, true, kSwish, 1}}}},
      960,
      1280};
}

Layout small() {
  return {{{16, {{3, 16, true, kRelu, 2}}},
           {24, {{3, 72, false, kRelu, 2}, {3, 88, false, kRelu, 1}}},
           {40, {{5, 96, true, kSwish, 2}, {5, 240, true, kSwish, 1}, {5, 240, true, kSwish, 1}}},
           {48, {{5, 120, true, kSwish, 1}, {5, 144, true, kSwish, 1}}},
           {96, {{5, 288, true, kSwish, 2}, {5, 576, true, kSwish, 1}, {5, 576, true, kSwish, 1}}}},
          576,
          1024};
}

Tensor bneck(Net& net, const Plan& plan, const Tensor& x, int64_t channels, const Block& block) {
  const int64_t expanded = plan.channels(block.expanded);
  const bool added = block.stride == 1 && x.shape[1] == channels;
  Tensor y = x;
  if (expanded != x.shape[1]) y = net.conv_bn(y, expanded, {.act = block.act});
  y = net.depthwise_bn(y, {.kernel = block.kernel, .stride = block.stride, .act = block.act});
  if (block.gated) {
    const auto squeezed = divisible(static_cast<double>(expanded) / 4);
    y = net.gate(y, squeezed, kRelu, Activation::hard_sigmoid);
  }
  y = net.conv_bn(y, channels, {.gain = added ? 0.5F : kUngated});
  return added ? net.add(y, x) : y;
}

}  // namespace

void mobilenet_v3(Net& net, const Plan& plan) {
  const Layout layout = plan.variant == "v3-large" ? large() : small();
  Tensor x = image(net, plan);
  x = net.conv_bn(x, plan.channels(16), {.kernel = 3, .stride = 2, .act = kSwish});
  for (const auto& [channels, blocks] : layout.stages) {
    for (size_t at = 0; at < static_cast<size_t>(plan.repeats(std::ssize(blocks))); ++at) {
      x = bneck(net, plan, x, plan.channels(channels), blocks[std::min(at, blocks.size() - 1)]);
    }
  }
  x = net.conv_bn(x, plan.channels(layout.last), {.act = kSwish});
  x = net.flatten(net.global_pool(x));
  x = net.linear(x, plan.channels(layout.features), kSwish);
  net.graph().output(net.linear(x, plan.classes));
}

}  // namespace assay::zoo
