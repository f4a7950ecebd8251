// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assay::zoo {

using Shape = std::vector<int64_t>;

/// A value that flows through the graph, with the shape it has there. No name: an input left out.
struct Tensor {
  std::string name;
  Shape shape;
};

using Attribute = std::variant<int64_t, float, std::string, Shape>;
using Attributes = std::vector<std::pair<std::string, Attribute>>;

struct Node {
  std::string op;
  std::vector<std::string> inputs;
  std::string output;
  Shape shape;  ///< of the output
  Attributes attributes;
};

enum class Role { trained, statistic, constant };

/// Numbers drawn evenly between two.
struct Drawn {
  float low = 0;
  float high = 0;
};

/// A tensor of the file. Drawn numbers are drawn when it is written: a model of any size is small
/// until then.
struct Weight {
  std::string name;
  Shape shape;
  Role role = Role::trained;
  std::variant<Drawn, std::vector<float>, std::vector<int64_t>> content;
};

struct Value {
  Tensor tensor;
  bool integers = false;
};

int64_t count_of(const Shape& shape);
/// "1x3x224x224"
std::string shape_text(const Shape& shape);

/// A model while it is built: what is computed from what, and every shape. The first thing that
/// cannot be is kept as `trouble`; building goes on with shapes that mean nothing.
class Graph {
 public:
  Tensor input(std::string name, Shape shape, bool integers = false);
  Tensor weight(std::string_view of, Shape shape, float low, float high, Role role = Role::trained);
  Tensor constant(float value);
  Tensor constant(std::vector<float> values);
  Tensor constant(std::vector<int64_t> values);
  /// Adds a node that gives one tensor of this shape. Its name tells the operator and a number.
  Tensor node(std::string_view op, const std::vector<Tensor>& inputs, Shape shape,
              Attributes attributes = {});
  void output(const Tensor& tensor);
  void refuse(std::string why);
  /// The name that the next node of this operator gets, for naming its weights.
  std::string next_name(std::string_view op) const;

  const std::vector<Value>& inputs() const { return inputs_; }
  const std::vector<Value>& outputs() const { return outputs_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Weight>& weights() const { return weights_; }
  const std::optional<std::string>& trouble() const { return trouble_; }
  /// Trained numbers, without the statistics of normalization.
  int64_t parameters() const;

 private:
  Tensor add_constant(Weight weight);

  std::vector<Value> inputs_;
  std::vector<Value> outputs_;
  std::vector<Node> nodes_;
  std::vector<Weight> weights_;
  std::optional<std::string> trouble_;
};

}  // namespace assay::zoo
