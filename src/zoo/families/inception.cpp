// SPDX-License-Identifier: Apache-2.0
#include "family.h"

namespace assay::zoo {
namespace {

/// Both networks are made of modules: branches side by side, whose channels are joined.
class Modules {
 public:
  Modules(Net& net, const Plan& plan) : net_(net), plan_(plan) {}

  Tensor conv(const Tensor& x, int64_t channels, const ConvOptions& options = {}) {
    return net_.conv_bn_relu(x, plan_.channels(channels), options);
  }
  Tensor max_pool(const Tensor& x) { return net_.max_pool(x, {.kernel = 3, .stride = 2}); }

  /// Branches of 1 x 1, 3 x 3, a second 3 x 3, and pooling: of GoogLeNet.
  Tensor classic(const Tensor& x, const std::array<int64_t, 6>& c) {
    const Tensor pooled = net_.max_pool(x, {.kernel = 3, .stride = 1, .pad = 1});
    return net_.concat({conv(x, c[0]), conv(conv(x, c[1]), c[2], {.kernel = 3}),
                        conv(conv(x, c[3]), c[4], {.kernel = 3}), conv(pooled, c[5])});
  }
  /// 35 x 35: with a 5 x 5, and two 3 x 3 after each other.
  Tensor wide(const Tensor& x, int64_t pooled) {
    const Tensor twice = conv(conv(x, 64), 96, {.kernel = 3});
    return net_.concat({conv(x, 64), conv(conv(x, 48), 64, {.kernel = 5}),
                        conv(twice, 96, {.kernel = 3}), conv(averaged(x), pooled)});
  }
  Tensor to_half(const Tensor& x) {
    const Tensor twice = conv(conv(x, 64), 96, {.kernel = 3});
    return net_.concat({conv(x, 384, {.kernel = 3, .stride = 2, .pad = 0}),
                        conv(twice, 96, {.kernel = 3, .stride = 2, .pad = 0}), max_pool(x)});
  }
  /// 17 x 17: 7 x 7 in two steps, as a row and as a column.
  Tensor factored(const Tensor& x, int64_t c) {
    const Tensor once = row(conv(x, c), c);
    const Tensor twice = column(row(column(conv(x, c), c), c), c);
    return net_.concat({conv(x, 192), column(once, 192), row(twice, 192), conv(averaged(x), 192)});
  }
  Tensor to_quarter(const Tensor& x) {
    const Tensor long_way = column(row(conv(x, 192), 192), 192);
    return net_.concat({conv(conv(x, 192), 320, {.kernel = 3, .stride = 2, .pad = 0}),
                        conv(long_way, 192, {.kernel = 3, .stride = 2, .pad = 0}), max_pool(x)});
  }
  /// 8 x 8: the branches fan out.
  Tensor fanned(const Tensor& x) {
    const Tensor one = conv(x, 384);
    const Tensor two = conv(conv(x, 448), 384, {.kernel = 3});
    const ConvOptions flat{.kernel = {1, 3}};
    const ConvOptions tall{.kernel = {3, 1}};
    return net_.concat({conv(x, 320), conv(one, 384, flat), conv(one, 384, tall),
                        conv(two, 384, flat), conv(two, 384, tall), conv(averaged(x), 192)});
  }

 private:
  Tensor averaged(const Tensor& x) {
    return net_.average_pool(x, {.kernel = 3, .stride = 1, .pad = 1});
  }
  Tensor row(const Tensor& x, int64_t channels) { return conv(x, channels, {.kernel = {1, 7}}); }
  Tensor column(const Tensor& x, int64_t channels) { return conv(x, channels, {.kernel = {7, 1}}); }

  Net& net_;
  const Plan& plan_;
};

void version_3(Net& net, const Plan& plan) {
  Modules m(net, plan);
  Tensor x = image(net, plan);
  x = m.conv(x, 32, {.kernel = 3, .stride = 2, .pad = 0});
  x = m.conv(x, 32, {.kernel = 3, .pad = 0});
  x = m.max_pool(m.conv(x, 64, {.kernel = 3}));
  x = m.max_pool(m.conv(m.conv(x, 80), 192, {.kernel = 3, .pad = 0}));
  for (int64_t at = 0; at < plan.repeats(3); ++at) x = m.wide(x, at == 0 ? 32 : 64);
  x = m.to_half(x);
  constexpr std::array<int64_t, 4> kNarrow{128, 160, 160, 192};
  for (size_t at = 0; at < static_cast<size_t>(plan.repeats(4)); ++at) {
    x = m.factored(x, kNarrow.at(std::min<size_t>(at, 3)));
  }
  x = m.to_quarter(x);
  for (int64_t at = 0; at < plan.repeats(2); ++at) x = m.fanned(x);
  net.graph().output(net.classify(x, plan.classes));
}

void googlenet(Net& net, const Plan& plan) {
  using Module = std::array<int64_t, 6>;
  const std::vector<std::vector<Module>> stages{
      {{64, 96, 128, 16, 32, 32}, {128, 128, 192, 32, 96, 64}},
      {{192, 96, 208, 16, 48, 64},
       {160, 112, 224, 24, 64, 64},
       {128, 128, 256, 24, 64, 64},
       {112, 144, 288, 32, 64, 64},
       {256, 160, 320, 32, 128, 128}},
      {{256, 160, 320, 32, 128, 128}, {384, 192, 384, 48, 128, 128}}};
  Modules m(net, plan);
  const PoolOptions halve{.kernel = 3, .stride = 2, .round_up = true};
  Tensor x = net.max_pool(m.conv(image(net, plan), 64, {.kernel = 7, .stride = 2}), halve);
  x = m.conv(m.conv(x, 64), 192, {.kernel = 3});
  for (const auto& stage : stages) {
    x = net.max_pool(x, halve);
    for (size_t at = 0; at < static_cast<size_t>(plan.repeats(std::ssize(stage))); ++at) {
      x = m.classic(x, stage[std::min(at, stage.size() - 1)]);
    }
  }
  net.graph().output(net.classify(x, plan.classes));
}

}  // namespace

void inception(Net& net, const Plan& plan) {
  if (plan.variant == "googlenet") return googlenet(net, plan);
  version_3(net, plan);
}

}  // namespace assay::zoo
