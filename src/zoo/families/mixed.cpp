// SPDX-License-Identifier: Apache-2.0
#include "attention.h"
#include "draw.h"
#include "recurrent.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace assay::zoo {
namespace {

constexpr int64_t kMostWork = 150'000'000;  ///< multiplications of one convolution
constexpr int64_t kLeastSize = 3;           ///< of a halved image
constexpr int64_t kMostChannels = 1024;     ///< to add more to
constexpr float kBranch = 0.4F;             ///< gain of what is added to others
constexpr float kEpsilon = 1e-6F;

template <class T, size_t Size>
T pick(Draw& draw, const std::array<T, Size>& from) {
  return from.at(draw.below(Size));
}

int64_t half_of(int64_t channels) {
  return divisible(static_cast<double>(channels) / 2);
}

/// Options that another variant has would be forgotten silently.
void refuse_foreign(Net& net, const Plan& plan, std::string_view option, bool given) {
  if (given) net.graph().refuse(fmt::format("mixed-{} has no --{}", plan.variant, option));
}

/// Lays blocks of all kinds behind each other, as the seed has it.
class Mixer {
 public:
  Mixer(Net& net, const Plan& plan) : net_(net), plan_(plan), draw_(plan.recipe.seed + 1) {}

  void convs();
  void steps();
  void tokens();

 private:
  using Block = Tensor (Mixer::*)(const Tensor&);

  Activation act() {
    return pick(draw_,
                std::array{Activation::relu, Activation::relu, Activation::relu, Activation::relu6,
                           Activation::leaky, Activation::swish, Activation::hard_swish});
  }
  int64_t stride(const Tensor& x) {
    return x.shape[2] >= 2 * kLeastSize && draw_.below(3) == 0 ? 2 : 1;
  }
  int64_t some_channels(const Tensor& x, int64_t kernel, int64_t stride);

  Tensor plain(const Tensor& x);
  Tensor in_two_steps(const Tensor& x);
  Tensor separable(const Tensor& x);
  Tensor grouped(const Tensor& x);
  Tensor bottleneck(const Tensor& x);
  Tensor inverted(const Tensor& x);
  Tensor branches(const Tensor& x);
  Tensor squeezed(const Tensor& x);
  Tensor pooled(const Tensor& x);
  Tensor larger(const Tensor& x);
  Tensor shuffled(const Tensor& x);
  Tensor grown(const Tensor& x);
  Tensor normalized_first(const Tensor& x);
  Tensor end(const Tensor& x);

  Net& net_;
  const Plan& plan_;
  Draw draw_;
};

/// Channels of a convolution that is not too much work.
int64_t Mixer::some_channels(const Tensor& x, int64_t kernel, int64_t stride) {
  int64_t channels = plan_.channels(
      pick(draw_, std::array<int64_t, 12>{16, 24, 32, 48, 64, 96, 128, 160, 192, 256, 384, 512}));
  const int64_t each =
      x.shape[1] * kernel * kernel * x.shape[2] * x.shape[3] / (stride * stride) * plan_.batch();
  while (channels > 16 && channels * each > kMostWork) channels = half_of(channels);
  return channels;
}

Tensor Mixer::plain(const Tensor& x) {
  const auto kernel = pick(draw_, std::array<int64_t, 7>{1, 1, 3, 3, 3, 5, 7});
  const int64_t step = stride(x);
  const int64_t channels = some_channels(x, kernel, step);
  return net_.conv_bn(x, channels, {.kernel = kernel, .stride = step, .act = act()});
}

Tensor Mixer::in_two_steps(const Tensor& x) {
  const auto kernel = pick(draw_, std::array<int64_t, 2>{3, 7});
  const int64_t channels = some_channels(x, kernel, 1);
  const Tensor high = net_.conv_bn_relu(x, channels, {.kernel = {kernel, 1}});
  return net_.conv_bn_relu(high, channels, {.kernel = {1, kernel}});
}

Tensor Mixer::separable(const Tensor& x) {
  const auto kernel = pick(draw_, std::array<int64_t, 3>{3, 3, 5});
  const Tensor each = net_.depthwise_bn(x, {.kernel = kernel, .stride = stride(x), .act = act()});
  const int64_t channels = some_channels(each, 1, 1);
  return net_.conv_bn(each, channels, {.act = act()});
}

Tensor Mixer::grouped(const Tensor& x) {
  const auto groups = pick(draw_, std::array<int64_t, 3>{2, 4, 8});
  return net_.conv_bn_relu(x, x.shape[1], {.kernel = 3, .groups = groups});
}

Tensor Mixer::bottleneck(const Tensor& x) {
  const int64_t inner = half_of(half_of(x.shape[1]));
  Tensor y = net_.conv_bn_relu(x, inner, {});
  y = net_.conv_bn_relu(y, inner, {.kernel = 3});
  return net_.relu(net_.add(net_.conv_bn(y, x.shape[1], {.gain = kBranch}), x));
}

Tensor Mixer::inverted(const Tensor& x) {
  const auto more = pick(draw_, std::array<int64_t, 3>{3, 4, 6});
  const auto kernel = pick(draw_, std::array<int64_t, 2>{3, 5});
  const Activation inner = act();
  Tensor y = net_.conv_bn(x, more * std::min<int64_t>(x.shape[1], 160), {.act = inner});
  y = net_.depthwise_bn(y, {.kernel = kernel, .act = inner});
  if (draw_.below(2) == 0)
    y = net_.gate(y, half_of(half_of(y.shape[1])), Activation::relu, Activation::sigmoid);
  return net_.add(net_.conv_bn(y, x.shape[1], {.gain = kBranch}), x);
}

Tensor Mixer::branches(const Tensor& x) {
  const int64_t channels = std::min<int64_t>(some_channels(x, 3, 1), 192);
  const Tensor near = net_.conv_bn_relu(x, channels, {});
  const Tensor squeezed = net_.conv_bn_relu(x, half_of(channels), {});
  const Tensor wide = net_.conv_bn_relu(squeezed, channels, {.kernel = 3});
  const Tensor mean = net_.average_pool(x, {.kernel = 3, .stride = 1, .pad = 1});
  return net_.concat({near, wide, net_.conv_bn_relu(mean, 32, {})});
}

/// Without normalization.
Tensor Mixer::squeezed(const Tensor& x) {
  const int64_t channels = std::min<int64_t>(some_channels(x, 3, 1), 256);
  const Tensor few = net_.conv(x, half_of(half_of(channels)), {.act = Activation::relu});
  return net_.concat({net_.conv(few, channels, {.act = Activation::relu}),
                      net_.conv(few, channels, {.kernel = 3, .act = Activation::relu})});
}

Tensor Mixer::pooled(const Tensor& x) {
  const PoolOptions options{.kernel = 3, .stride = stride(x), .pad = 1};
  return draw_.below(2) == 0 ? net_.max_pool(x, options) : net_.average_pool(x, options);
}

/// To twice the size, and back beside what it was.
Tensor Mixer::larger(const Tensor& x) {
  const int64_t few = std::min<int64_t>(x.shape[1], 64);
  const Tensor thin = net_.conv_bn_relu(x, few, {});
  const Tensor large =
      draw_.below(2) == 0 ? net_.upsample(thin, 2) : net_.conv_transpose(thin, few, 2);
  return net_.concat({net_.conv_bn_relu(large, few, {.kernel = 3, .stride = 2}), x});
}

Tensor Mixer::shuffled(const Tensor& x) {
  const int64_t half = x.shape[1] / 2;
  const Tensor kept = net_.slice(x, 1, 0, half);
  Tensor y = net_.conv_bn_relu(net_.slice(x, 1, half, x.shape[1]), half, {});
  y = net_.concat({kept, net_.depthwise_bn(y, {.kernel = 3})});
  const Shape whole = y.shape;
  y = net_.transpose(net_.reshape(y, {whole[0], 2, whole[1] / 2, whole[2] * whole[3]}),
                     {0, 2, 1, 3});
  return net_.reshape(y, whole);
}

/// A few times, as each adds few channels to those before.
Tensor Mixer::grown(const Tensor& x) {
  const int64_t more = plan_.channels(pick(draw_, std::array<int64_t, 3>{16, 32, 48}));
  const uint64_t times = 1 + draw_.below(6);
  Tensor all = x;
  for (uint64_t at = 0; at < times && all.shape[1] + more <= kMostChannels; ++at) {
    const Tensor thin = net_.conv_bn_relu(net_.relu(net_.bn(all)), 4 * more, {});
    all = net_.concat({all, net_.conv_bare(thin, more, {.kernel = 3})});
  }
  return all;
}

Tensor Mixer::normalized_first(const Tensor& x) {
  const int64_t channels = some_channels(x, 3, 1);
  const Tensor y = net_.conv_bn_relu(net_.relu(net_.bn(x)), channels, {.kernel = 3});
  return net_.add(net_.conv_bare(y, x.shape[1], {}), x);
}

Tensor Mixer::end(const Tensor& x) {
  const uint64_t kind = draw_.below(3);
  if (kind == 0) return net_.flatten(net_.global_pool(net_.conv(x, plan_.classes, {})));
  if (kind == 1) return net_.classify(x, plan_.classes);
  const Tensor flat = net_.flatten(net_.pool_to(x, 4));
  const auto features = pick(draw_, std::array<int64_t, 3>{256, 512, 1024});
  return net_.linear(net_.linear(flat, plan_.channels(features), Activation::relu), plan_.classes);
}

void Mixer::convs() {
  constexpr std::array<Block, 17> kBlocks{
      &Mixer::plain,           &Mixer::plain,     &Mixer::plain,    &Mixer::in_two_steps,
      &Mixer::separable,       &Mixer::separable, &Mixer::grouped,  &Mixer::bottleneck,
      &Mixer::inverted,        &Mixer::inverted,  &Mixer::branches, &Mixer::squeezed,
      &Mixer::pooled,          &Mixer::larger,    &Mixer::shuffled, &Mixer::grown,
      &Mixer::normalized_first};
  const auto kernel = pick(draw_, std::array<int64_t, 3>{3, 5, 7});
  const auto channels = pick(draw_, std::array<int64_t, 4>{16, 32, 48, 64});
  Tensor x = net_.conv_bn_relu(image(net_, plan_), plan_.channels(channels),
                               {.kernel = kernel, .stride = 2});
  // Half the size, where most networks do most of their work.
  if (draw_.below(3) != 0) x = net_.max_pool(x, {.kernel = 3, .stride = 2, .pad = 1});
  for (int64_t at = 0; at < plan_.repeats(12); ++at) x = (this->*pick(draw_, kBlocks))(x);
  net_.graph().output(end(x));
}

void Mixer::steps() {
  constexpr std::array<int64_t, 6> kHidden{64, 128, 200, 320, 512, 640};
  const int64_t length = plan_.recipe.sequence.value_or(32);
  const auto hidden = [&] {
    return plan_.recipe.hidden.value_or(plan_.channels(pick(draw_, kHidden)));
  };
  Tensor x = net_.graph().input("sequence", {length, plan_.batch(), hidden()});
  for (int64_t at = 0; at < plan_.repeats(3); ++at) {
    const int64_t directions = draw_.below(3) == 0 ? 2 : 1;
    x = lstm_layer(net_, x, hidden(), directions);
  }
  x = net_.reshape(net_.slice(x, 0, length - 1, length), {plan_.batch(), x.shape[2]});
  net_.graph().output(net_.linear(net_.linear(x, hidden(), Activation::relu), plan_.classes));
}

void Mixer::tokens() {
  constexpr int64_t kPerHead = 64;
  const auto features = [&] {
    const auto heads = pick(draw_, std::array<int64_t, 6>{1, 2, 3, 4, 6, 8});
    return kPerHead *
           std::max<int64_t>(1, std::llround(static_cast<double>(heads) * plan_.recipe.width));
  };
  const int64_t length = plan_.recipe.sequence.value_or(64);
  Tensor x = net_.graph().input("tokens", {plan_.batch(), length, features()});
  for (int64_t at = 0; at < plan_.repeats(6); ++at) {
    if (draw_.below(3) == 0) x = net_.project(x, features());
    if (draw_.below(3) != 0)
      x = net_.add(x, attention(net_, net_.layer_norm(x, kEpsilon), x.shape[2] / kPerHead));
    if (draw_.below(3) != 0) x = net_.add(x, feed_forward(net_, net_.layer_norm(x, kEpsilon)));
  }
  x = net_.reshape(net_.slice(x, 1, 0, 1), {plan_.batch(), x.shape[2]});
  net_.graph().output(net_.linear(x, plan_.classes));
}

}  // namespace

void mixed(Net& net, const Plan& plan) {
  const bool convs = plan.variant == "convs";
  refuse_foreign(net, plan, "resolution", plan.recipe.resolution && !convs);
  refuse_foreign(net, plan, "sequence", plan.recipe.sequence && convs);
  refuse_foreign(net, plan, "hidden", plan.recipe.hidden && plan.variant != "steps");
  Mixer mixer(net, plan);
  if (plan.variant == "steps") return mixer.steps();
  if (plan.variant == "tokens") return mixer.tokens();
  mixer.convs();
}

}  // namespace assay::zoo
