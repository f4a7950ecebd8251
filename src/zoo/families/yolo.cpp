// SPDX-License-Identifier: Apache-2.0
#include "family.h"

#include <cmath>

namespace assay::zoo {
namespace {

/// Three boxes per place: four coordinates, one score, and the classes.
void detect(Net& net, const Plan& plan, const std::vector<Tensor>& scales) {
  const int64_t numbers = 5 + plan.classes;
  std::vector<Tensor> boxes;
  for (const Tensor& x : scales) {
    const Tensor raw = net.conv(x, 3 * numbers, {});
    const int64_t places = raw.shape[2] * raw.shape[3];
    const Tensor apart = net.reshape(raw, {plan.batch(), 3, numbers, places});
    const Tensor last = net.transpose(apart, {0, 1, 3, 2});
    boxes.push_back(net.reshape(last, {plan.batch(), 3 * places, numbers}));
  }
  net.graph().output(net.activate(net.concat(boxes), Activation::sigmoid));
}

void version_3_tiny(Net& net, const Plan& plan) {
  const auto conv = [&](const Tensor& x, int64_t channels, int64_t kernel) {
    return net.conv_bn(x, plan.channels(channels), {.kernel = kernel, .act = Activation::leaky});
  };
  Tensor x = image(net, plan);
  for (const int64_t channels : {16, 32, 64, 128}) {
    x = net.max_pool(conv(x, channels, 3), {.kernel = 2, .stride = 2});
  }
  const Tensor fine = conv(x, 256, 3);
  x = conv(net.max_pool(fine, {.kernel = 2, .stride = 2}), 512, 3);
  x = net.max_pool(x, {.kernel = 3, .stride = 1, .pad = 1});
  for (int64_t at = 0; at < plan.repeats(1); ++at) x = conv(x, 1024, 3);
  const Tensor coarse = conv(x, 256, 1);
  const Tensor up = net.upsample(conv(coarse, 128, 1), 2);
  detect(net, plan, {conv(coarse, 512, 3), conv(net.concat({up, fine}), 256, 3)});
}

/// The parts of YOLOv5, whose variants differ in width and depth alone.
class Version5 {
 public:
  Version5(Net& net, const Plan& plan) : net_(net), plan_(plan) {
    if (plan.variant == "v5n") width_ = 0.25;
    if (plan.variant == "v5m") width_ = 0.75;
    if (plan.variant == "v5m") depth_ = 0.67;
  }

  void build() {
    Tensor x = conv(image(net_, plan_), 64, {.kernel = 6, .stride = 2, .pad = 2});
    x = csp(down(x, 128), 128, 3, true);
    const Tensor p3 = csp(down(x, 256), 256, 6, true);
    const Tensor p4 = csp(down(p3, 512), 512, 9, true);
    x = spatial_pyramid(csp(down(p4, 1024), 1024, 3, true));
    const Tensor from5 = conv(x, 512);
    x = csp(net_.concat({net_.upsample(from5, 2), p4}), 512, 3, false);
    const Tensor from4 = conv(x, 256);
    const Tensor out3 = csp(net_.concat({net_.upsample(from4, 2), p3}), 256, 3, false);
    const Tensor out4 = csp(net_.concat({down(out3, 256), from4}), 512, 3, false);
    const Tensor out5 = csp(net_.concat({down(out4, 512), from5}), 1024, 3, false);
    detect(net_, plan_, {out3, out4, out5});
  }

 private:
  int64_t channels(int64_t published) const {
    return divisible(static_cast<double>(published) * width_ * plan_.recipe.width);
  }
  Tensor plain(const Tensor& x, int64_t channels, ConvOptions options = {}) {
    options.act = Activation::swish;
    return net_.conv_bn(x, channels, options);
  }
  Tensor conv(const Tensor& x, int64_t published, const ConvOptions& options = {}) {
    return plain(x, channels(published), options);
  }
  Tensor down(const Tensor& x, int64_t published) {
    return conv(x, published, {.kernel = 3, .stride = 2});
  }
  /// Half of the channels go through bottlenecks, half go around them.
  Tensor csp(const Tensor& x, int64_t published, int64_t blocks, bool added) {
    const int64_t half = channels(published) / 2;
    const double deep = std::round(static_cast<double>(blocks) * depth_ * plan_.recipe.depth);
    Tensor y = plain(x, half);
    for (int64_t at = 0; at < std::max<int64_t>(1, static_cast<int64_t>(deep)); ++at) {
      const Tensor z = plain(plain(y, half), half, {.kernel = 3, .gain = added ? 0.5F : 1.0F});
      y = added ? net_.add(y, z) : z;
    }
    return conv(net_.concat({y, plain(x, half)}), published);
  }
  Tensor spatial_pyramid(const Tensor& x) {
    const PoolOptions five{.kernel = 5, .stride = 1, .pad = 2};
    std::vector<Tensor> parts{conv(x, 512)};
    for (int at = 0; at < 3; ++at) parts.push_back(net_.max_pool(parts.back(), five));
    return conv(net_.concat(parts), 1024);
  }

  Net& net_;
  const Plan& plan_;
  double width_ = 0.5;
  double depth_ = 0.33;
};

}  // namespace

void yolo(Net& net, const Plan& plan) {
  if (plan.variant == "v3-tiny") return version_3_tiny(net, plan);
  Version5(net, plan).build();
}

}  // namespace assay::zoo
