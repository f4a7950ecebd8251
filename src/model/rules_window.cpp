// SPDX-License-Identifier: Apache-2.0
// Operators that slide a window: convolutions and pools.
#include "rules.h"

#include <algorithm>
#include <cmath>

namespace assay::model::rules {
namespace {

double at_or(const Dims& list, size_t i, int64_t otherwise) {
  return static_cast<double>(i < list.size() ? list[i] : otherwise);
}

/// How a window moves over the spatial dimensions of an input [batch, channels, ...].
struct Window {
  Dims kernel;
  Dims strides;
  Dims dilations;
  Dims pads;  ///< all the begins, then all the ends
  std::string_view automatic;
  bool round_up = false;

  double stride(size_t i) const { return std::max(1.0, at_or(strides, i, 1)); }
  double reach(size_t i) const { return (at_or(kernel, i, 1) - 1) * at_or(dilations, i, 1) + 1; }
  double padding(size_t i, size_t spatial) const {
    if (!automatic.empty() && automatic != "NOTSET") return 0;
    return at_or(pads, i, 0) + at_or(pads, spatial + i, 0);
  }
};

Window window_of(const Call& call, Dims kernel) {
  Window window;
  window.kernel = std::move(kernel);
  window.strides = call.integers("strides");
  window.dilations = call.integers("dilations");
  window.pads = call.integers("pads");
  window.automatic = call.text("auto_pad");
  window.round_up = call.integer("ceil_mode", 0) != 0;
  return window;
}

int64_t slid(const Window& window, int64_t in, size_t i, size_t spatial) {
  if (in < 0) return kUnknownDim;
  const double size = static_cast<double>(in);
  if (window.automatic.starts_with("SAME")) return dim_from(std::ceil(size / window.stride(i)));
  const double steps = (size + window.padding(i, spatial) - window.reach(i)) / window.stride(i);
  return dim_from((window.round_up ? std::ceil(steps) : std::floor(steps)) + 1);
}

Dims slid_all(const Window& window, const Dims& in, int64_t channels) {
  Dims dims = {in[0], channels};
  dims.reserve(in.size());
  for (size_t i = 2; i < in.size(); ++i) dims.push_back(slid(window, in[i], i - 2, in.size() - 2));
  return dims;
}

/// With the weights at input `weights`: [filters, channels / group, kernel ...].
void conv_with(Call& call, size_t weights) {
  const Dims* in = call.dims(0);
  if (in == nullptr || in->size() < 2) return;
  Dims kernel = call.integers("kernel_shape");
  const Dims* w = call.dims(weights);
  if (kernel.empty() && w != nullptr && w->size() > 2) kernel.assign(w->begin() + 2, w->end());
  call.set(0, slid_all(window_of(call, kernel), *in, call.dim(weights, 0)));
}

}  // namespace

void conv(Call& call) {
  conv_with(call, 1);
}

void quantized_conv(Call& call) {
  conv_with(call, 3);
  call.set_type(0, call.in(7).type);
}

void integer_conv(Call& call) {
  conv_with(call, 1);
  call.set_type(0, kInt32);
}

void transposed_conv(Call& call) {
  const Dims* in = call.dims(0);
  const Dims* w = call.dims(1);
  if (in == nullptr || w == nullptr || in->size() < 2 || w->size() != in->size()) return;
  const Window window = window_of(call, Dims(w->begin() + 2, w->end()));
  const Dims extra = call.integers("output_padding");
  const Dims wanted = call.integers("output_shape");
  const double group = static_cast<double>(call.integer("group", 1));
  const size_t spatial = in->size() - 2;
  Dims dims = {(*in)[0], dim_from(static_cast<double>((*w)[1]) * group)};
  for (size_t i = 0; i < spatial; ++i) {
    const double size = static_cast<double>((*in)[i + 2]);
    double out = window.stride(i) * (size - 1) + at_or(extra, i, 0) + window.reach(i) -
                 window.padding(i, spatial);
    if (window.automatic.starts_with("SAME")) out = size * window.stride(i);
    if (wanted.size() >= spatial) out = at_or(wanted, wanted.size() - spatial + i, kUnknownDim);
    dims.push_back(size < 0 ? kUnknownDim : dim_from(out));
  }
  call.set(0, dims);
}

void pool(Call& call) {
  const Dims* in = call.dims(0);
  if (in == nullptr || in->size() < 2) return;
  const Dims dims = slid_all(window_of(call, call.integers("kernel_shape")), *in, (*in)[1]);
  call.set(0, dims);
  call.set(1, dims);
  call.set_type(1, kInt64);
}

void global_pool(Call& call) {
  const Dims* in = call.dims(0);
  if (in == nullptr || in->size() < 2) return;
  Dims dims(in->size(), 1);
  dims[0] = (*in)[0];
  dims[1] = (*in)[1];
  call.set(0, dims);
}

void roi_pool(Call& call) {
  const Dims pooled = call.integers("pooled_shape");
  const int64_t height = pooled.size() == 2 ? pooled[0] : call.integer("output_height", 1);
  const int64_t width = pooled.size() == 2 ? pooled[1] : call.integer("output_width", 1);
  if (call.rank(0) == 4) call.set(0, {call.dim(1, 0), call.dim(0, 1), height, width});
}

void unpool(Call& call) {
  if (const auto wanted = call.sizes(2)) return call.set(0, *wanted);
  const Dims* in = call.dims(0);
  if (in == nullptr || in->size() < 2 || call.has(2)) return;
  const Window window = window_of(call, call.integers("kernel_shape"));
  Dims dims = {(*in)[0], (*in)[1]};
  for (size_t i = 0; i + 2 < in->size(); ++i) {
    const double size = static_cast<double>((*in)[i + 2]);
    dims.push_back(dim_from((size - 1) * window.stride(i) - window.padding(i, in->size() - 2) +
                            window.reach(i)));
  }
  call.set(0, dims);
}

}  // namespace assay::model::rules
