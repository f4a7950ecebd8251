// SPDX-License-Identifier: Apache-2.0
#include "family.h"

namespace assay::zoo {

void unet(Net& net, const Plan& plan) {
  constexpr int64_t kLevels = 4;
  const auto level = [&](Tensor x, int64_t at) {
    for (int64_t conv = 0; conv < plan.repeats(2); ++conv) {
      x = net.conv_bn_relu(x, plan.channels(int64_t{64} << at), {.kernel = 3});
    }
    return x;
  };
  Tensor x = image(net, plan);
  std::vector<Tensor> kept;
  for (int64_t at = 0; at < kLevels; ++at) {
    kept.push_back(level(x, at));
    x = net.max_pool(kept.back(), {.kernel = 2, .stride = 2});
  }
  x = level(x, kLevels);
  for (int64_t at = kLevels - 1; at >= 0; --at) {
    const Tensor up = net.conv_transpose(x, plan.channels(int64_t{64} << at), 2);
    x = level(net.concat({kept[static_cast<size_t>(at)], up}), at);
  }
  net.graph().output(net.conv(x, plan.classes, {}));
}

}  // namespace assay::zoo
