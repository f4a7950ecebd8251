// SPDX-License-Identifier: Apache-2.0
// Operators that move data without computing.
#include "rules.h"

#include <algorithm>
#include <cmath>

namespace assay::model::rules {

void reshape(Call& call) {
  const auto wanted = call.integers_or_input("shape", 1);
  if (!wanted || wanted->size() > kMostDims) return;
  const Dims* in = call.dims(0);
  Dims dims = *wanted;
  std::optional<size_t> rest;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && call.integer("allowzero", 0) == 0)
      dims[i] = call.dim(0, i);
    else if (dims[i] < 0)
      rest = i;
  }
  if (rest) {
    dims[*rest] = kUnknownDim;
    const double others = product(dims);
    if (in != nullptr && all_known(*in) && others > 0)
      dims[*rest] = dim_from(std::floor(product(*in) / others));
  }
  call.set(0, dims);
}

void flatten(Call& call) {
  const Dims* in = call.dims(0);
  if (in == nullptr) return;
  const int64_t given = call.integer("axis", 1);
  const auto rank = static_cast<int64_t>(in->size());
  if (given < -rank || given > rank) return;
  const auto axis = static_cast<size_t>(given < 0 ? given + rank : given);
  const auto part = [in](size_t begin, size_t end) {
    const bool known = all_known(Dims(in->begin() + static_cast<ptrdiff_t>(begin),
                                      in->begin() + static_cast<ptrdiff_t>(end)));
    return known ? dim_from(product(*in, begin, end)) : kUnknownDim;
  };
  call.set(0, {part(0, axis), part(axis, in->size())});
}

void squeeze(Call& call) {
  const Dims* in = call.dims(0);
  const auto axes = call.integers_or_input("axes", 1);
  if (in == nullptr || !axes) return;
  std::vector<bool> gone(in->size(), false);
  for (const int64_t axis : *axes) {
    if (const auto at = axis_of(axis, in->size())) gone[*at] = true;
  }
  Dims dims;
  for (size_t i = 0; i < in->size(); ++i) {
    const bool out = axes->empty() ? (*in)[i] == 1 : gone[i];
    if (!out) dims.push_back((*in)[i]);
  }
  call.set(0, dims);
}

void unsqueeze(Call& call) {
  const Dims* in = call.dims(0);
  const auto axes = call.integers_or_input("axes", 1);
  if (in == nullptr || !axes || axes->size() > kMostDims) return;
  const size_t rank = in->size() + axes->size();
  std::vector<bool> added(rank, false);
  for (const int64_t axis : *axes) {
    const auto at = axis_of(axis, rank);
    if (!at || added[*at]) return;
    added[*at] = true;
  }
  Dims dims;
  size_t next = 0;
  dims.reserve(rank);
  for (size_t i = 0; i < rank; ++i) dims.push_back(added[i] ? 1 : (*in)[next++]);
  call.set(0, dims);
}

void transpose(Call& call) {
  const Dims* in = call.dims(0);
  if (in == nullptr) return;
  const Dims order = call.integers("perm");
  if (order.empty()) return call.set(0, Dims(in->rbegin(), in->rend()));
  Dims dims;
  for (const int64_t axis : order) {
    const auto at = axis_of(axis, in->size());
    if (!at) return;
    dims.push_back((*in)[*at]);
  }
  call.set(0, dims);
}

void concat(Call& call) {
  const Dims* first = call.dims(0);
  if (first == nullptr) return;
  const auto axis = axis_of(call.integer("axis", 1), first->size());
  if (!axis) return;
  Dims dims = *first;
  double sum = 0;
  bool known = true;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (call.rank(i) != first->size()) return;
    known = known && call.dim(i, *axis) >= 0;
    sum += static_cast<double>(call.dim(i, *axis));
    for (size_t j = 0; j < dims.size(); ++j) dims[j] = std::max(dims[j], call.dim(i, j));
  }
  dims[*axis] = known ? dim_from(sum) : kUnknownDim;
  call.set(0, dims);
}

void split(Call& call) {
  const Dims* in = call.dims(0);
  for (size_t i = 0; i < call.out.size(); ++i) call.set_type(i, call.in(0).type);
  if (in == nullptr || call.out.empty()) return;
  const auto axis = axis_of(call.integer("axis", 0), in->size());
  const auto sizes = call.integers_or_input("split", 1);
  if (!axis || !sizes) return;
  const auto parts = static_cast<int64_t>(call.out.size());
  const int64_t whole = (*in)[*axis];
  const int64_t even = whole < 0 ? kUnknownDim : (whole + parts - 1) / parts;
  for (size_t i = 0; i < call.out.size(); ++i) {
    Dims dims = *in;
    dims[*axis] = std::min(
        even, whole < 0 ? even : std::max<int64_t>(0, whole - even * static_cast<int64_t>(i)));
    if (i < sizes->size()) dims[*axis] = (*sizes)[i];
    call.set(i, dims);
  }
}

namespace {

/// Elements from `start` to `end` of so many, as ONNX counts them.
int64_t sliced(int64_t size, int64_t start, int64_t end, int64_t step) {
  if (size < 0) return kUnknownDim;
  if (step == 0) step = 1;
  const auto place = [size, step](int64_t at) {
    if (at < 0) at += size;
    return step > 0 ? std::clamp<int64_t>(at, 0, size)
                    : std::clamp<int64_t>(at, -1, std::max<int64_t>(size - 1, -1));
  };
  const auto length = static_cast<double>(place(end) - place(start));
  return dim_from(std::max(0.0, std::ceil(length / static_cast<double>(step))));
}

void first_axes(Dims& axes, size_t count) {
  for (size_t i = 0; i < count; ++i) axes.push_back(static_cast<int64_t>(i));
}

}  // namespace

void slice(Call& call) {
  const Dims* in = call.dims(0);
  if (in == nullptr) return;
  const auto starts = call.integers_or_input("starts", 1);
  const auto ends = call.integers_or_input("ends", 2);
  auto axes = call.integers_or_input("axes", 3);
  const auto steps = call.has(4) ? call.sizes(4) : Dims{};
  if (axes && axes->empty() && starts) first_axes(*axes, starts->size());
  if (!axes || (axes->empty() && !starts)) return call.set(0, Dims(in->size(), kUnknownDim));
  const bool known =
      starts && ends && steps && starts->size() == axes->size() && ends->size() == axes->size();
  Dims dims = *in;
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis = axis_of((*axes)[i], in->size());
    if (!axis) return;
    int64_t& dim = dims[*axis];
    const int64_t step = known && i < steps->size() ? (*steps)[i] : 1;
    dim = known ? sliced(dim, (*starts)[i], (*ends)[i], step) : kUnknownDim;
  }
  call.set(0, dims);
}

void gather(Call& call) {
  const Dims* in = call.dims(0);
  const Dims* indices = call.dims(1);
  if (in == nullptr || indices == nullptr) return;
  const auto axis = axis_of(call.integer("axis", 0), in->size());
  if (!axis) return;
  const auto at = in->begin() + static_cast<ptrdiff_t>(*axis);
  Dims dims(in->begin(), at);
  dims.insert(dims.end(), indices->begin(), indices->end());
  dims.insert(dims.end(), at + 1, in->end());
  call.set(0, dims);
}

void gather_elements(Call& call) {
  if (call.dims(1) != nullptr) call.set(0, *call.dims(1));
}

void gather_nd(Call& call) {
  const Dims* in = call.dims(0);
  const Dims* indices = call.dims(1);
  if (in == nullptr || indices == nullptr || indices->empty() || indices->back() < 0) return;
  const int64_t taken = call.integer("batch_dims", 0) + indices->back();
  if (taken < 0 || taken > static_cast<int64_t>(in->size())) return;
  Dims dims(indices->begin(), indices->end() - 1);
  dims.insert(dims.end(), in->begin() + taken, in->end());
  call.set(0, dims);
}

void expand(Call& call) {
  const auto wanted = call.sizes(1);
  if (wanted && call.dims(0) != nullptr) call.set(0, broadcast(*call.dims(0), *wanted));
}

void tile(Call& call) {
  const Dims* in = call.dims(0);
  const auto repeats = call.sizes(1);
  if (in == nullptr) return;
  Dims dims(in->size(), kUnknownDim);
  if (repeats && repeats->size() == in->size()) {
    for (size_t i = 0; i < dims.size(); ++i) {
      if ((*in)[i] >= 0)
        dims[i] = dim_from(static_cast<double>((*in)[i]) * static_cast<double>((*repeats)[i]));
    }
  }
  call.set(0, dims);
}

void pad(Call& call) {
  const Dims* in = call.dims(0);
  if (in == nullptr) return;
  auto pads = call.has_attribute("paddings") ? call.integers("paddings")
                                             : call.integers_or_input("pads", 1);
  Dims axes;
  if (call.has(3)) {
    const auto given = call.sizes(3);
    if (!given)
      pads.reset();
    else
      axes = *given;
  }
  if (axes.empty()) first_axes(axes, in->size());
  Dims dims = *in;
  if (!pads || pads->size() != 2 * axes.size()) return call.set(0, Dims(in->size(), kUnknownDim));
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = axis_of(axes[i], dims.size());
    if (!axis) return;
    if (dims[*axis] >= 0) dims[*axis] += (*pads)[i] + (*pads)[axes.size() + i];
  }
  call.set(0, dims);
}

void depth_to_space(Call& call) {
  const int64_t block = std::max<int64_t>(1, call.integer("blocksize", 1));
  if (call.rank(0) != 4) return;
  const auto grown = [block](int64_t dim) {
    return dim < 0 ? kUnknownDim : dim_from(static_cast<double>(dim) * static_cast<double>(block));
  };
  const int64_t channels = call.dim(0, 1);
  call.set(0, {call.dim(0, 0), channels < 0 ? kUnknownDim : channels / block / block,
               grown(call.dim(0, 2)), grown(call.dim(0, 3))});
}

void space_to_depth(Call& call) {
  const int64_t block = std::max<int64_t>(1, call.integer("blocksize", 1));
  if (call.rank(0) != 4) return;
  const auto shrunk = [block](int64_t dim) { return dim < 0 ? kUnknownDim : dim / block; };
  const double channels = static_cast<double>(call.dim(0, 1));
  const double factor = static_cast<double>(block) * static_cast<double>(block);
  call.set(0, {call.dim(0, 0), channels < 0 ? kUnknownDim : dim_from(channels * factor),
               shrunk(call.dim(0, 2)), shrunk(call.dim(0, 3))});
}

}  // namespace assay::model::rules
