// SPDX-License-Identifier: Apache-2.0
#include "graph.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <numeric>

namespace assay::zoo {

int64_t count_of(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::string shape_text(const Shape& shape) {
  return fmt::format("{}", fmt::join(shape, "x"));
}

Tensor Graph::input(std::string name, Shape shape, bool integers) {
  Tensor tensor{std::move(name), std::move(shape)};
  inputs_.push_back({tensor, integers});
  return tensor;
}

Tensor Graph::weight(std::string_view of, Shape shape, float low, float high, Role role) {
  Tensor tensor{std::string(of), std::move(shape)};
  weights_.push_back({tensor.name, tensor.shape, role, Drawn{low, high}});
  return tensor;
}

Tensor Graph::add_constant(Weight weight) {
  weight.name = fmt::format("constant_{}", weights_.size());
  weight.role = Role::constant;
  weights_.push_back(std::move(weight));
  return {weights_.back().name, weights_.back().shape};
}

Tensor Graph::constant(float value) {
  return add_constant({"", {}, {}, std::vector{value}});
}

Tensor Graph::constant(std::vector<float> values) {
  return add_constant({"", {std::ssize(values)}, {}, std::move(values)});
}

Tensor Graph::constant(std::vector<int64_t> values) {
  return add_constant({"", {std::ssize(values)}, {}, std::move(values)});
}

std::string Graph::next_name(std::string_view op) const {
  return fmt::format("{}_{}", op, nodes_.size());
}

Tensor Graph::node(std::string_view op, const std::vector<Tensor>& inputs, Shape shape,
                   Attributes attributes) {
  Tensor tensor{next_name(op), std::move(shape)};
  const bool possible =
      std::all_of(tensor.shape.begin(), tensor.shape.end(), [](int64_t size) { return size > 0; });
  if (!possible) {
    refuse(fmt::format("{} would have the size {}: choose a larger --resolution", tensor.name,
                       shape_text(tensor.shape)));
  }
  Node made{std::string(op), {}, tensor.name, tensor.shape, std::move(attributes)};
  for (const auto& input : inputs) made.inputs.push_back(input.name);
  nodes_.push_back(std::move(made));
  return tensor;
}

void Graph::output(const Tensor& tensor) {
  outputs_.push_back({tensor, false});
}

void Graph::refuse(std::string why) {
  if (!trouble_) trouble_ = std::move(why);
}

int64_t Graph::parameters() const {
  int64_t sum = 0;
  for (const auto& weight : weights_) {
    if (weight.role == Role::trained) sum += count_of(weight.shape);
  }
  return sum;
}

}  // namespace assay::zoo
