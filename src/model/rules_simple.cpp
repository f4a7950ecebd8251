// SPDX-License-Identifier: Apache-2.0
#include "rules.h"

#include <algorithm>

namespace assay::model::rules {
namespace {

void stretch_inputs(Call& call, size_t step) {
  if (call.inputs() == 0) return;
  Dims dims;
  for (size_t i = 0; i < call.inputs(); i += step) {
    if (!call.has(i)) continue;
    if (call.dims(i) == nullptr) return;
    dims = broadcast(dims, *call.dims(i));
  }
  call.set(0, dims);
}

}  // namespace

void nothing(Call& /*call*/) {}

void same(Call& call) {
  if (call.dims(0) != nullptr) call.set(0, *call.dims(0));
}

void stretched(Call& call) {
  stretch_inputs(call, 1);
}

void compared(Call& call) {
  stretched(call);
  call.set_type(0, kBool);
}

void tested(Call& call) {
  same(call);
  call.set_type(0, kBool);
}

void cast(Call& call) {
  same(call);
  call.set_type(0, static_cast<int>(call.integer("to", kUndefined)));
  if (call.node.op == "CastLike") call.set_type(0, call.in(1).type);
}

void where(Call& call) {
  stretched(call);
  call.set_type(0, call.in(1).type);
}

void quantize(Call& call) {
  same(call);
  const int wanted = static_cast<int>(call.integer("output_dtype", kUint8));
  call.set_type(0, call.has(2) ? call.in(2).type : wanted);
}

void dequantize(Call& call) {
  same(call);
  call.set_type(0, call.in(1).type);
}

void dynamic_quantize(Call& call) {
  same(call);
  call.set(1, {});
  call.set(2, {});
  call.set_type(0, kUint8);
  call.set_type(1, kFloat);
  call.set_type(2, kUint8);
}

void dropout(Call& call) {
  same(call);
  if (call.dims(0) != nullptr) call.set(1, *call.dims(0));
  call.set_type(1, kBool);
}

/// QLinearAdd and its like: A, its scale and zero point, B, its scale and zero point, C's.
void quantized_stretched(Call& call) {
  if (call.dims(0) == nullptr || call.dims(3) == nullptr) return;
  call.set(0, broadcast(*call.dims(0), *call.dims(3)));
}

void reduce(Call& call) {
  const Dims* in = call.dims(0);
  const auto axes = call.integers_or_input("axes", 1);
  if (in == nullptr || !axes) return;
  const bool keep = call.integer("keepdims", 1) != 0;
  if (axes->empty() && call.integer("noop_with_empty_axes", 0) != 0) return call.set(0, *in);
  std::vector<bool> reduced(in->size(), axes->empty());
  for (const int64_t axis : *axes) {
    const auto at = axis_of(axis, in->size());
    if (!at) return;
    reduced[*at] = true;
  }
  Dims dims;
  for (size_t i = 0; i < in->size(); ++i) {
    if (!reduced[i]) dims.push_back((*in)[i]);
    if (reduced[i] && keep) dims.push_back(1);
  }
  call.set(0, dims);
}

void arg_extreme(Call& call) {
  call.set_type(0, kInt64);
  const Dims* in = call.dims(0);
  if (in == nullptr) return;
  const auto axis = axis_of(call.integer("axis", 0), in->size());
  if (!axis) return;
  Dims dims = *in;
  const auto at = dims.begin() + static_cast<ptrdiff_t>(*axis);
  if (call.integer("keepdims", 1) != 0) {
    *at = 1;
  } else {
    dims.erase(at);
  }
  call.set(0, dims);
}

void top_k(Call& call) {
  call.set_type(1, kInt64);
  const Dims* in = call.dims(0);
  if (in == nullptr) return;
  const auto axis = axis_of(call.integer("axis", -1), in->size());
  if (!axis) return;
  Dims dims = *in;
  const auto k = call.sizes(1);
  dims[*axis] = k && k->size() == 1 ? k->front() : call.integer("k", kUnknownDim);
  call.set(0, dims);
  call.set(1, dims);
}

void shape(Call& call) {
  call.set_type(0, kInt64);
  if (call.dims(0) == nullptr) return call.set(0, {kUnknownDim});
  const auto rank = static_cast<int64_t>(call.rank(0));
  const auto place = [rank](int64_t at) {
    return std::clamp(at < 0 ? at + rank : at, int64_t{0}, rank);
  };
  const int64_t begin = place(call.integer("start", 0));
  const int64_t end = place(call.integer("end", rank));
  call.set(0, {std::max(end - begin, int64_t{0})});
}

void size(Call& call) {
  call.set_type(0, kInt64);
  call.set(0, {});
}

void constant_of_shape(Call& call) {
  const auto* value = call.node.attribute("value");
  call.set_type(0, value != nullptr && value->tensor ? value->tensor->type : kFloat);
  if (const auto dims = call.sizes(0); dims && dims->size() <= kMostDims) call.set(0, *dims);
}

void range(Call& call) {
  call.set(0, {kUnknownDim});
}

void one_hot(Call& call) {
  call.set_type(0, call.in(2).type);
  const Dims* in = call.dims(0);
  if (in == nullptr) return;
  const auto axis = axis_of(call.integer("axis", -1), in->size() + 1);
  if (!axis) return;
  const auto depth = call.sizes(1);
  Dims dims = *in;
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(*axis),
              depth && depth->size() == 1 ? depth->front() : kUnknownDim);
  call.set(0, dims);
}

void eye_like(Call& call) {
  same(call);
  call.set_type(0, static_cast<int>(call.integer("dtype", call.in(0).type)));
}

void random(Call& call) {
  call.set(0, call.integers("shape"));
  call.set_type(0, static_cast<int>(call.integer("dtype", kFloat)));
}

void random_like(Call& call) {
  same(call);
  const int otherwise = call.node.op == "Multinomial" ? kInt32 : call.in(0).type;
  call.set_type(0, static_cast<int>(call.integer("dtype", otherwise)));
  if (call.node.op == "Multinomial") call.set(0, {call.dim(0, 0), call.integer("sample_size", 1)});
}

void non_zero(Call& call) {
  call.set_type(0, kInt64);
  if (call.dims(0) != nullptr) call.set(0, {static_cast<int64_t>(call.rank(0)), kUnknownDim});
}

void compress(Call& call) {
  const Dims* in = call.dims(0);
  if (in == nullptr) return;
  if (!call.has_attribute("axis")) return call.set(0, {kUnknownDim});
  const auto axis = axis_of(call.integer("axis", 0), in->size());
  if (!axis) return;
  Dims dims = *in;
  dims[*axis] = kUnknownDim;
  call.set(0, dims);
}

void unique(Call& call) {
  compress(call);
  for (size_t i = 1; i < call.out.size(); ++i) {
    call.set(i, {kUnknownDim});
    call.set_type(i, kInt64);
  }
}

void non_max_suppression(Call& call) {
  call.set_type(0, kInt64);
  call.set(0, {kUnknownDim, 3});
}

void window(Call& call) {
  call.set_type(0, static_cast<int>(call.integer("output_datatype", kFloat)));
  if (const auto length = call.sizes(0); length && length->size() == 1) call.set(0, *length);
}

void dft(Call& call) {
  const Dims* in = call.dims(0);
  if (in == nullptr || in->empty()) return;
  const int64_t otherwise = call.has_attribute("axis") || call.opset < 20 ? 1 : -2;
  const auto given = call.sizes(2);
  const auto axis = axis_of(
      given && given->size() == 1 ? given->front() : call.integer("axis", otherwise), in->size());
  if (!axis) return;
  Dims dims = *in;
  dims.back() = 2;
  const auto length = call.sizes(1);
  if (length && length->size() == 1) dims[*axis] = length->front();
  if (call.integer("onesided", 0) != 0 && dims[*axis] >= 0) dims[*axis] = dims[*axis] / 2 + 1;
  call.set(0, dims);
}

void stft(Call& call) {
  const auto step = call.sizes(1);
  if (call.rank(0) < 2 || !step || step->size() != 1 || step->front() <= 0) return;
  const auto length = call.sizes(3);
  int64_t frame = length && length->size() == 1 ? length->front() : call.dim(2, 0);
  if (frame <= 0) return;
  const int64_t samples = call.dim(0, 1);
  const int64_t frames = samples < frame ? kUnknownDim : (samples - frame) / step->front() + 1;
  if (call.integer("onesided", 1) != 0) frame = frame / 2 + 1;
  call.set(0, {call.dim(0, 0), frames, frame, 2});
}

void mel_matrix(Call& call) {
  call.set_type(0, static_cast<int>(call.integer("output_datatype", kFloat)));
  const auto bins = call.sizes(0);
  const auto length = call.sizes(1);
  if (!bins || !length || bins->size() != 1 || length->size() != 1) return;
  call.set(0, {length->front() / 2 + 1, bins->front()});
}

void det(Call& call) {
  const Dims* in = call.dims(0);
  if (in != nullptr && in->size() >= 2) call.set(0, Dims(in->begin(), in->end() - 2));
}

void scaler(Call& call) {
  same(call);
  call.set_type(0, kFloat);
}

void classifier(Call& call) {
  const int64_t rows = call.rank(0) == 1 ? 1 : call.dim(0, 0);
  call.set(0, {rows});
  call.set_type(0, call.has_attribute("classlabels_strings") ? kString : kInt64);
  const auto* ints = call.node.attribute("classlabels_int64s");
  if (ints == nullptr) ints = call.node.attribute("classlabels_ints");
  const auto classes = ints != nullptr ? static_cast<int64_t>(ints->integers.size()) : kUnknownDim;
  call.set(1, {rows, classes > 0 ? classes : kUnknownDim});
  call.set_type(1, kFloat);
}

void regressor(Call& call) {
  call.set(0, {call.rank(0) == 1 ? 1 : call.dim(0, 0), call.integer("n_targets", 1)});
  call.set_type(0, kFloat);
}

void label_encoder(Call& call) {
  same(call);
  const bool to_text = call.has_attribute("values_strings");
  const bool to_real = call.has_attribute("values_floats");
  call.set_type(0, to_text ? kString : to_real ? kFloat : kInt64);
}

}  // namespace assay::model::rules
