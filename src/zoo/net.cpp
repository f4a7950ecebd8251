// SPDX-License-Identifier: Apache-2.0
#include "net.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace assay::zoo {
namespace {

/// Half the width of an even distribution, for which `fan_in` inputs give a variance of `variance`.
float spread(int64_t fan_in, float variance) {
  return std::sqrt(3 * variance / static_cast<float>(std::max<int64_t>(fan_in, 1)));
}

/// A rectifier takes half of the variance away; He's scaling gives it back.
float variance_before(Activation act) {
  return act == Activation::none ? 1.0F : 2.0F;
}

int64_t windows(int64_t size, int64_t kernel, int64_t stride, int64_t pads, bool round_up = false) {
  const int64_t room = size + pads - kernel;
  return room < 0 ? 0 : ((room + (round_up ? stride - 1 : 0)) / stride) + 1;
}

}  // namespace

Tensor Net::plain_conv(const Tensor& x, int64_t channels, const ConvOptions& o, bool bias) {
  const Window pad = o.pad.value_or(Window(o.kernel.height / 2, o.kernel.width / 2));
  const int64_t inputs = x.shape[1] / o.groups;
  const std::string name = graph_.next_name("Conv");
  if (x.shape[1] % o.groups != 0 || channels % o.groups != 0) {
    graph_.refuse(fmt::format("{} cannot divide {} and {} channels into {} groups", name,
                              x.shape[1], channels, o.groups));
  }
  const float range =
      spread(inputs * o.kernel.height * o.kernel.width, bias ? variance_before(o.act) : 2.0F);
  const Shape kernel{channels, inputs, o.kernel.height, o.kernel.width};
  const Tensor weight = graph_.weight(name + ".weight", kernel, -range, range);
  const Tensor offset =
      bias ? graph_.weight(name + ".bias", {channels}, -0.1F, 0.1F) : Tensor{"", {}};
  const Shape shape{x.shape[0], channels,
                    windows(x.shape[2], o.kernel.height, o.stride, 2 * pad.height),
                    windows(x.shape[3], o.kernel.width, o.stride, 2 * pad.width)};
  Attributes attributes{{"dilations", Shape{1, 1}},
                        {"group", o.groups},
                        {"kernel_shape", Shape{o.kernel.height, o.kernel.width}},
                        {"pads", Shape{pad.height, pad.width, pad.height, pad.width}},
                        {"strides", Shape{o.stride, o.stride}}};
  if (bias) return graph_.node("Conv", {x, weight, offset}, shape, std::move(attributes));
  return graph_.node("Conv", {x, weight}, shape, std::move(attributes));
}

Tensor Net::conv(const Tensor& x, int64_t channels, const ConvOptions& options) {
  return activate(plain_conv(x, channels, options, true), options.act);
}

Tensor Net::conv_bare(const Tensor& x, int64_t channels, const ConvOptions& options) {
  return plain_conv(x, channels, options, false);
}

Tensor Net::conv_bn(const Tensor& x, int64_t channels, const ConvOptions& options) {
  return activate(bn(plain_conv(x, channels, options, false), options.gain), options.act);
}

Tensor Net::conv_bn_relu(const Tensor& x, int64_t channels, ConvOptions options) {
  options.act = Activation::relu;
  return conv_bn(x, channels, options);
}

Tensor Net::depthwise_bn(const Tensor& x, ConvOptions options) {
  options.groups = x.shape[1];
  return conv_bn(x, x.shape[1], options);
}

Tensor Net::conv_transpose(const Tensor& x, int64_t channels, int64_t scale) {
  const std::string name = graph_.next_name("ConvTranspose");
  const float range = spread(x.shape[1], 1);
  const Tensor weight =
      graph_.weight(name + ".weight", {x.shape[1], channels, scale, scale}, -range, range);
  const Tensor bias = graph_.weight(name + ".bias", {channels}, -0.1F, 0.1F);
  return graph_.node("ConvTranspose", {x, weight, bias},
                     {x.shape[0], channels, x.shape[2] * scale, x.shape[3] * scale},
                     {{"kernel_shape", Shape{scale, scale}}, {"strides", Shape{scale, scale}}});
}

Tensor Net::bn(const Tensor& x, float gain) {
  const std::string name = graph_.next_name("BatchNormalization");
  const auto part = [&](const char* what, float low, float high, Role role) {
    return graph_.weight(name + what, {x.shape[1]}, low, high, role);
  };
  const Tensor scale = part(".scale", 0.9F * gain, 1.1F * gain, Role::trained);
  const Tensor bias = part(".bias", -0.1F, 0.1F, Role::trained);
  const Tensor mean = part(".mean", -0.1F, 0.1F, Role::statistic);
  const Tensor variance = part(".variance", 0.9F, 1.1F, Role::statistic);
  return graph_.node("BatchNormalization", {x, scale, bias, mean, variance}, x.shape,
                     {{"epsilon", 1e-5F}});
}

Tensor Net::same(std::string_view op, const Tensor& x, Attributes attributes) {
  return graph_.node(op, {x}, x.shape, std::move(attributes));
}

Tensor Net::activate(const Tensor& x, Activation act) {
  switch (act) {
    case Activation::none:
      return x;
    case Activation::relu:
      return same("Relu", x);
    case Activation::relu6:
      return same("Clip", x, {{"min", 0.0F}, {"max", 6.0F}});
    case Activation::leaky:
      return same("LeakyRelu", x, {{"alpha", 0.1F}});
    case Activation::sigmoid:
      return same("Sigmoid", x);
    case Activation::hard_sigmoid:
      return same("HardSigmoid", x, {{"alpha", 1.0F / 6}, {"beta", 0.5F}});
    case Activation::tanh:
      return same("Tanh", x);
    case Activation::swish:
      return multiply(x, same("Sigmoid", x));
    case Activation::hard_swish:
      return multiply(x, activate(x, Activation::hard_sigmoid));
    case Activation::gelu: {
      const Tensor scaled = combine("Div", x, graph_.constant(std::sqrt(2.0F)));
      const Tensor raised = add(same("Erf", scaled), graph_.constant(1.0F));
      return multiply(multiply(x, raised), graph_.constant(0.5F));
    }
  }
  return x;
}

Tensor Net::gate(const Tensor& x, int64_t squeezed, Activation inner, Activation outer) {
  const Tensor small = conv(global_pool(x), squeezed, {.act = inner});
  // In this order: the other way round, OpenCV 4.6 takes a hard gate for a hard swish.
  return multiply(conv(small, x.shape[1], {.act = outer}), x);
}

Tensor Net::pool(std::string_view op, const Tensor& x, const PoolOptions& o) {
  const auto size = [&](int64_t from) {
    return windows(from, o.kernel, o.stride, 2 * o.pad, o.round_up);
  };
  Attributes attributes{{"kernel_shape", Shape{o.kernel, o.kernel}},
                        {"pads", Shape{o.pad, o.pad, o.pad, o.pad}},
                        {"strides", Shape{o.stride, o.stride}}};
  if (o.round_up) attributes.emplace_back("ceil_mode", int64_t{1});
  return graph_.node(op, {x}, {x.shape[0], x.shape[1], size(x.shape[2]), size(x.shape[3])},
                     std::move(attributes));
}

Tensor Net::max_pool(const Tensor& x, const PoolOptions& options) {
  return pool("MaxPool", x, options);
}

Tensor Net::average_pool(const Tensor& x, const PoolOptions& options) {
  return pool("AveragePool", x, options);
}

Tensor Net::pool_to(const Tensor& x, int64_t size) {
  const int64_t from = x.shape[2];
  if (from <= size) return x;
  const int64_t stride = from / size;
  return average_pool(x, {.kernel = from - ((size - 1) * stride), .stride = stride});
}

Tensor Net::global_pool(const Tensor& x) {
  return graph_.node("GlobalAveragePool", {x}, {x.shape[0], x.shape[1], 1, 1});
}

Tensor Net::upsample(const Tensor& x, int64_t scale) {
  const auto times = static_cast<float>(scale);
  const Tensor scales = graph_.constant(std::vector<float>{1, 1, times, times});
  return graph_.node("Resize", {x, scales},
                     {x.shape[0], x.shape[1], x.shape[2] * scale, x.shape[3] * scale},
                     {{"mode", "nearest"}});
}

Tensor Net::combine(std::string_view op, const Tensor& a, const Tensor& b) {
  const Shape& more = a.shape.size() >= b.shape.size() ? a.shape : b.shape;
  const Shape& less = a.shape.size() >= b.shape.size() ? b.shape : a.shape;
  Shape shape = more;
  for (size_t at = 0; at < less.size(); ++at) {
    int64_t& size = shape[shape.size() - less.size() + at];
    if (size != less[at] && size != 1 && less[at] != 1) {
      graph_.refuse(
          fmt::format("{} cannot join {} and {}: choose a --resolution that is a multiple of 32",
                      graph_.next_name(op), shape_text(a.shape), shape_text(b.shape)));
    }
    size = std::max(size, less[at]);
  }
  return graph_.node(op, {a, b}, std::move(shape));
}

Tensor Net::add(const Tensor& a, const Tensor& b) {
  return combine("Add", a, b);
}

Tensor Net::multiply(const Tensor& a, const Tensor& b) {
  return combine("Mul", a, b);
}

Tensor Net::concat(const std::vector<Tensor>& parts, int64_t axis) {
  const auto at = static_cast<size_t>(axis);
  Shape shape = parts.front().shape;
  shape[at] = 0;
  for (const auto& part : parts) {
    shape[at] += part.shape[at];
    Shape other = part.shape;
    other[at] = shape[at];
    if (other != shape) {
      graph_.refuse(fmt::format(
          "{} cannot join {} to {}: choose a --resolution that is a multiple of 32",
          graph_.next_name("Concat"), shape_text(part.shape), shape_text(parts.front().shape)));
    }
  }
  return graph_.node("Concat", parts, std::move(shape), {{"axis", axis}});
}

Tensor Net::slice(const Tensor& x, int64_t axis, int64_t from, int64_t to) {
  Shape shape = x.shape;
  shape[static_cast<size_t>(axis)] = to - from;
  return graph_.node(
      "Slice",
      {x, graph_.constant(Shape{from}), graph_.constant(Shape{to}), graph_.constant(Shape{axis})},
      std::move(shape));
}

Tensor Net::reshape(const Tensor& x, Shape shape) {
  const Tensor wanted = graph_.constant(shape);
  return graph_.node("Reshape", {x, wanted}, std::move(shape));
}

Tensor Net::expand(const Tensor& x, Shape shape) {
  const Tensor wanted = graph_.constant(shape);
  return graph_.node("Expand", {x, wanted}, std::move(shape));
}

Tensor Net::transpose(const Tensor& x, const Shape& order) {
  Shape shape;
  for (const int64_t axis : order) shape.push_back(x.shape[static_cast<size_t>(axis)]);
  return graph_.node("Transpose", {x}, std::move(shape), {{"perm", order}});
}

Tensor Net::flatten(const Tensor& x) {
  return graph_.node("Flatten", {x}, {x.shape[0], count_of(x.shape) / x.shape[0]},
                     {{"axis", int64_t{1}}});
}

Tensor Net::gather(const Tensor& table, const Tensor& indices, Shape shape) {
  return graph_.node("Gather", {table, indices}, std::move(shape), {{"axis", int64_t{0}}});
}

Tensor Net::linear(const Tensor& x, int64_t features, Activation act) {
  const std::string name = graph_.next_name("Gemm");
  const float range = spread(x.shape[1], variance_before(act));
  const Tensor weight = graph_.weight(name + ".weight", {features, x.shape[1]}, -range, range);
  const Tensor bias = graph_.weight(name + ".bias", {features}, -0.1F, 0.1F);
  const Tensor sum =
      graph_.node("Gemm", {x, weight, bias}, {x.shape[0], features}, {{"transB", int64_t{1}}});
  return activate(sum, act);
}

Tensor Net::project(const Tensor& x, int64_t features) {
  const std::string name = graph_.next_name("MatMul");
  const float range = spread(x.shape.back(), 1);
  const Tensor weight = graph_.weight(name + ".weight", {x.shape.back(), features}, -range, range);
  const Tensor bias = graph_.weight(name + ".bias", {features}, -0.1F, 0.1F);
  return add(matmul(x, weight), bias);
}

Tensor Net::matmul(const Tensor& a, const Tensor& b) {
  Shape shape = a.shape;
  shape.back() = b.shape.back();
  return graph_.node("MatMul", {a, b}, std::move(shape));
}

Tensor Net::softmax(const Tensor& x) {
  return same("Softmax", x, {{"axis", std::ssize(x.shape) - 1}});
}

Tensor Net::layer_norm(const Tensor& x, float epsilon) {
  const auto mean = [&](const Tensor& of) {
    Shape shape = of.shape;
    shape.back() = 1;
    return graph_.node("ReduceMean", {of}, std::move(shape),
                       {{"axes", Shape{std::ssize(of.shape) - 1}}, {"keepdims", int64_t{1}}});
  };
  const std::string name = graph_.next_name("LayerNorm");
  const Tensor centred = combine("Sub", x, mean(x));
  const Tensor variance = mean(combine("Pow", centred, graph_.constant(2.0F)));
  const Tensor deviation = same("Sqrt", add(variance, graph_.constant(epsilon)));
  const Tensor scale = graph_.weight(name + ".scale", {x.shape.back()}, 0.9F, 1.1F);
  const Tensor bias = graph_.weight(name + ".bias", {x.shape.back()}, -0.1F, 0.1F);
  return add(multiply(combine("Div", centred, deviation), scale), bias);
}

Tensor Net::classify(const Tensor& x, int64_t classes) {
  return linear(flatten(global_pool(x)), classes);
}

}  // namespace assay::zoo
