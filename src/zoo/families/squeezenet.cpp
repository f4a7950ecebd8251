// SPDX-License-Identifier: Apache-2.0
#include "family.h"

namespace assay::zoo {
namespace {

constexpr PoolOptions kPool{.kernel = 3, .stride = 2, .round_up = true};

/// Squeezes to few channels, and expands by kernels of two sizes.
Tensor fire(Net& net, const Plan& plan, const Tensor& x, int64_t squeeze) {
  const int64_t expand = plan.channels(4 * squeeze);
  const Tensor small = net.conv(x, plan.channels(squeeze), {.act = Activation::relu});
  return net.concat({net.conv(small, expand, {.act = Activation::relu}),
                     net.conv(small, expand, {.kernel = 3, .act = Activation::relu})});
}

/// Squeezed channels of the fire modules between two poolings.
std::vector<std::vector<int64_t>> stages(std::string_view variant) {
  if (variant == "1.0") return {{16, 16, 32}, {32, 48, 48, 64}, {64}};
  return {{16, 16}, {32, 32}, {48, 48, 64, 64}};
}

}  // namespace

void squeezenet(Net& net, const Plan& plan) {
  const bool first = plan.variant == "1.0";
  Tensor x = image(net, plan);
  x = net.conv(x, plan.channels(first ? 96 : 64),
               {.kernel = first ? 7 : 3, .stride = 2, .pad = 0, .act = Activation::relu});
  for (const auto& stage : stages(plan.variant)) {
    x = net.max_pool(x, kPool);
    for (size_t at = 0; at < static_cast<size_t>(plan.repeats(std::ssize(stage))); ++at) {
      x = fire(net, plan, x, stage[std::min(at, stage.size() - 1)]);
    }
  }
  x = net.conv(x, plan.classes, {.act = Activation::relu});
  net.graph().output(net.flatten(net.global_pool(x)));
}

}  // namespace assay::zoo
