// SPDX-License-Identifier: Apache-2.0
#include "fold.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <unordered_map>

namespace assay::model {
namespace {

using Numbers = std::vector<double>;
using Folder = void (*)(Call&);

bool small(const Known& known) {
  return known.complete() && known.elements() <= static_cast<double>(kSmallTensor);
}

/// Where element `flat` of `shape` is found in a tensor of `from` that is stretched to it.
size_t stretched_index(size_t flat, const Dims& shape, const Dims& from) {
  size_t index = 0;
  size_t factor = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto size = static_cast<size_t>(shape[shape.size() - 1 - i]);
    const size_t at = flat % size;
    flat /= size;
    if (i >= from.size()) continue;
    const auto own = static_cast<size_t>(from[from.size() - 1 - i]);
    index += (own == 1 ? 0 : at) * factor;
    factor *= own;
  }
  return index;
}

bool fits(const Known& known) {
  return known.numbers && known.dims &&
         known.elements() == static_cast<double>(known.numbers->size());
}

/// One number of the output from one of each input; they are stretched to the output.
template <class Compute>
void each(Call& call, size_t inputs, Compute compute) {
  Known& out = call.out.front();
  constexpr double kMostWork = 1e5;
  if (!small(out) || out.elements() == 0 ||
      out.elements() * static_cast<double>(inputs * (out.dims->size() + 1)) > kMostWork)
    return;
  for (size_t i = 0; i < inputs; ++i) {
    if (!fits(call.in(i)) || call.in(i).elements() == 0) return;
  }
  Numbers result;
  Numbers taken(inputs);
  for (size_t flat = 0; flat < static_cast<size_t>(out.elements()); ++flat) {
    for (size_t i = 0; i < inputs; ++i) {
      const size_t at = stretched_index(flat, *out.dims, *call.dims(i));
      if (at >= call.in(i).numbers->size()) return;
      taken[i] = (*call.in(i).numbers)[at];
    }
    result.push_back(compute(taken));
  }
  out.numbers = std::move(result);
}

template <double (*Compute)(double)>
void one(Call& call) {
  each(call, 1, [](const Numbers& in) { return Compute(in[0]); });
}

template <double (*Compute)(double, double)>
void two(Call& call) {
  each(call, 2, [](const Numbers& in) { return Compute(in[0], in[1]); });
}

template <double (*Compute)(double, double)>
void many(Call& call) {
  each(call, call.inputs(), [](const Numbers& in) {
    double result = in.empty() ? 0 : in[0];
    for (size_t i = 1; i < in.size(); ++i) result = Compute(result, in[i]);
    return result;
  });
}

double add(double a, double b) {
  return a + b;
}
double subtract(double a, double b) {
  return a - b;
}
double multiply(double a, double b) {
  return a * b;
}
double least(double a, double b) {
  return std::min(a, b);
}
double most(double a, double b) {
  return std::max(a, b);
}
double power(double a, double b) {
  return std::pow(a, b);
}
double equal(double a, double b) {
  return a == b ? 1 : 0;
}
double less(double a, double b) {
  return a < b ? 1 : 0;
}
double greater(double a, double b) {
  return a > b ? 1 : 0;
}
double less_equal(double a, double b) {
  return a <= b ? 1 : 0;
}
double greater_equal(double a, double b) {
  return a >= b ? 1 : 0;
}
double both(double a, double b) {
  return a != 0 && b != 0 ? 1 : 0;
}
double either(double a, double b) {
  return a != 0 || b != 0 ? 1 : 0;
}
double negated(double a) {
  return -a;
}
double not_so(double a) {
  return a == 0 ? 1 : 0;
}
double root(double a) {
  return std::sqrt(a);
}
double magnitude(double a) {
  return std::fabs(a);
}
double down(double a) {
  return std::floor(a);
}
double up(double a) {
  return std::ceil(a);
}
double reciprocal(double a) {
  return 1 / a;
}

void divide(Call& call) {
  const bool whole = !is_real(call.in(0).type);
  each(call, 2, [whole](const Numbers& in) {
    const double quotient = in[1] == 0 ? 0 : in[0] / in[1];
    return whole ? std::trunc(quotient) : quotient;
  });
}

void modulo(Call& call) {
  const bool like_c = call.integer("fmod", 0) != 0;
  each(call, 2, [like_c](const Numbers& in) {
    if (in[1] == 0) return 0.0;
    return like_c ? std::fmod(in[0], in[1]) : in[0] - in[1] * std::floor(in[0] / in[1]);
  });
}

void where(Call& call) {
  each(call, 3, [](const Numbers& in) { return in[0] != 0 ? in[1] : in[2]; });
}

void cast(Call& call) {
  const int type = call.out.front().type;
  each(call, 1, [type](const Numbers& in) {
    if (type == kBool) return in[0] != 0 ? 1.0 : 0.0;
    return is_real(type) ? in[0] : std::trunc(in[0]);
  });
}

/// The same numbers in another shape.
void keep(Call& call) {
  Known& out = call.out.front();
  if (small(out) && fits(call.in(0)) && out.elements() == call.in(0).elements())
    out.numbers = call.in(0).numbers;
}

void shape(Call& call) {
  const Dims* in = call.dims(0);
  const Known& out = call.out.front();
  if (in == nullptr || !small(out) || !all_known(*in)) return;
  const auto rank = static_cast<int64_t>(in->size());
  const int64_t given = call.integer("start", 0);
  const int64_t begin = std::clamp(given < 0 ? given + rank : given, int64_t{0}, rank);
  const auto count = static_cast<int64_t>(out.elements());
  Numbers numbers;
  numbers.reserve(in->size());
  for (int64_t i = begin; i < begin + count && i < rank; ++i)
    numbers.push_back(static_cast<double>((*in)[static_cast<size_t>(i)]));
  call.out.front().numbers = std::move(numbers);
}

void size(Call& call) {
  if (call.in(0).complete()) call.out.front().numbers = Numbers{call.in(0).elements()};
}

void gather(Call& call) {
  Known& out = call.out.front();
  if (!small(out) || !fits(call.in(0)) || !fits(call.in(1)) || call.rank(0) != 1) return;
  const auto& from = *call.in(0).numbers;
  Numbers numbers;
  for (const double index : *call.in(1).numbers) {
    const double at = index < 0 ? index + static_cast<double>(from.size()) : index;
    if (!(at >= 0) || at >= static_cast<double>(from.size())) return;
    numbers.push_back(from[static_cast<size_t>(at)]);
  }
  out.numbers = std::move(numbers);
}

/// Steps through a tensor in another order: where it starts, and how far each dimension of the
/// result moves in it.
struct Walk {
  int64_t start = 0;
  Dims strides;
};

/// Elements between neighbours along each dimension.
Dims strides_of(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

void take(Call& call, const Walk& walk) {
  Known& out = call.out.front();
  const auto& from = *call.in(0).numbers;
  Numbers numbers;
  for (size_t flat = 0; flat < static_cast<size_t>(out.elements()); ++flat) {
    int64_t at = walk.start;
    size_t left = flat;
    for (size_t i = out.dims->size(); i-- > 0;) {
      const auto size = static_cast<size_t>((*out.dims)[i]);
      at += static_cast<int64_t>(left % size) * walk.strides[i];
      left /= size;
    }
    if (at < 0 || at >= static_cast<int64_t>(from.size())) return;
    numbers.push_back(from[static_cast<size_t>(at)]);
  }
  out.numbers = std::move(numbers);
}

/// The rule has computed how long the result is.
void slice(Call& call) {
  const auto starts = call.integers_or_input("starts", 1);
  const auto axes = call.integers_or_input("axes", 3);
  const auto steps = call.has(4) ? call.sizes(4) : Dims{};
  if (!small(call.out.front()) || !fits(call.in(0)) || !starts || !axes || !steps) return;
  const Dims& in = *call.dims(0);
  if (call.out.front().dims->size() != in.size()) return;
  Walk walk{0, strides_of(in)};
  const Dims own = walk.strides;
  for (size_t i = 0; i < starts->size(); ++i) {
    const auto axis = axis_of(i < axes->size() ? (*axes)[i] : static_cast<int64_t>(i), in.size());
    if (!axis) return;
    const int64_t size = in[*axis];
    const int64_t step = i < steps->size() ? std::clamp(steps->at(i), -size - 1, size + 1) : 1;
    const int64_t from = (*starts)[i] < 0 ? (*starts)[i] + size : (*starts)[i];
    walk.start += std::clamp<int64_t>(from, 0, std::max<int64_t>(size - 1, 0)) * own[*axis];
    walk.strides[*axis] = own[*axis] * step;
  }
  take(call, walk);
}

void transpose(Call& call) {
  if (!small(call.out.front()) || !fits(call.in(0))) return;
  const Dims own = strides_of(*call.dims(0));
  const Dims order = call.integers("perm");
  Walk walk{0, Dims(own.rbegin(), own.rend())};
  for (size_t i = 0; i < order.size() && i < own.size(); ++i)
    walk.strides[i] = own[axis_of(order[i], own.size()).value_or(0)];
  if (call.out.front().dims->size() == own.size()) take(call, walk);
}

void concat(Call& call) {
  Known& out = call.out.front();
  if (!small(out) || out.dims->size() != 1) return;
  Numbers numbers;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (!fits(call.in(i))) return;
    numbers.insert(numbers.end(), call.in(i).numbers->begin(), call.in(i).numbers->end());
  }
  out.numbers = std::move(numbers);
}

void split(Call& call) {
  if (!fits(call.in(0)) || call.rank(0) != 1) return;
  size_t at = 0;
  const auto& from = *call.in(0).numbers;
  for (auto& out : call.out) {
    if (!small(out)) return;
    const auto count = static_cast<size_t>(out.elements());
    if (at + count > from.size()) return;
    const auto begin = from.begin() + static_cast<ptrdiff_t>(at);
    out.numbers = Numbers(begin, begin + static_cast<ptrdiff_t>(count));
    at += count;
  }
}

void range(Call& call) {
  if (!fits(call.in(0)) || !fits(call.in(1)) || !fits(call.in(2))) return;
  const auto scalar = [&call](size_t i) {
    return call.in(i).numbers->empty() ? 0 : call.in(i).numbers->front();
  };
  const double step = scalar(2);
  if (step == 0) return;
  const double count = std::max(0.0, std::ceil((scalar(1) - scalar(0)) / step));
  call.set(0, {dim_from(count)});
  if (!small(call.out.front())) return;
  Numbers numbers;
  numbers.reserve(static_cast<size_t>(count));
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    numbers.push_back(scalar(0) + static_cast<double>(i) * step);
  call.out.front().numbers = std::move(numbers);
}

/// Of everything to one number.
template <double (*Compute)(double, double)>
void reduce(Call& call) {
  Known& out = call.out.front();
  if (!small(out) || out.elements() != 1 || !fits(call.in(0)) || call.in(0).numbers->empty())
    return;
  const auto& in = *call.in(0).numbers;
  double result = in.front();
  for (size_t i = 1; i < in.size(); ++i) result = Compute(result, in[i]);
  out.numbers = Numbers{result};
}

void constant_of_shape(Call& call) {
  Known& out = call.out.front();
  if (!small(out)) return;
  const auto* value = call.node.attribute("value");
  double filling = 0;
  if (value != nullptr && value->tensor && value->tensor->numbers &&
      !value->tensor->numbers->empty())
    filling = value->tensor->numbers->front();
  out.numbers = Numbers(static_cast<size_t>(out.elements()), filling);
}

void expand(Call& call) {
  each(call, 1, [](const Numbers& in) { return in[0]; });
}

/// Of lists, which is what makers of indices use.
void non_zero(Call& call) {
  if (!fits(call.in(0)) || call.rank(0) != 1) return;
  Numbers numbers;
  for (size_t i = 0; i < call.in(0).numbers->size(); ++i) {
    if ((*call.in(0).numbers)[i] != 0) numbers.push_back(static_cast<double>(i));
  }
  call.set(0, {1, static_cast<int64_t>(numbers.size())});
  call.out.front().numbers = std::move(numbers);
}

const std::unordered_map<std::string_view, Folder>& folders() {
  static const std::unordered_map<std::string_view, Folder> kFolders = {
      {"Shape", shape},
      {"Size", size},
      {"Gather", gather},
      {"Slice", slice},
      {"Concat", concat},
      {"Split", split},
      {"Range", range},
      {"Cast", cast},
      {"Where", where},
      {"Expand", expand},
      {"ConstantOfShape", constant_of_shape},
      {"NonZero", non_zero},
      {"Transpose", transpose},
      {"Identity", keep},
      {"Reshape", keep},
      {"Squeeze", keep},
      {"Unsqueeze", keep},
      {"Flatten", keep},
      {"Add", two<add>},
      {"Sub", two<subtract>},
      {"Mul", two<multiply>},
      {"Div", divide},
      {"Mod", modulo},
      {"Pow", two<power>},
      {"Min", many<least>},
      {"Max", many<most>},
      {"Equal", two<equal>},
      {"Less", two<less>},
      {"Greater", two<greater>},
      {"LessOrEqual", two<less_equal>},
      {"GreaterOrEqual", two<greater_equal>},
      {"And", two<both>},
      {"Or", two<either>},
      {"Not", one<not_so>},
      {"Neg", one<negated>},
      {"Sqrt", one<root>},
      {"Abs", one<magnitude>},
      {"Floor", one<down>},
      {"Ceil", one<up>},
      {"Reciprocal", one<reciprocal>},
      {"ReduceProd", reduce<multiply>},
      {"ReduceSum", reduce<add>},
      {"ReduceMin", reduce<least>},
      {"ReduceMax", reduce<most>},
  };
  return kFolders;
}

}  // namespace

void fold(Call& call) {
  if (call.out.empty()) return;
  const auto found = folders().find(call.node.op);
  if (found != folders().end()) found->second(call);
}

}  // namespace assay::model
