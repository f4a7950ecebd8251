// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/model/graph.h>

namespace assay::model {

using Dims = std::vector<int64_t>;
/// A dimension that depends on data, or whose operator is not known.
inline constexpr int64_t kUnknownDim = -1;
/// Larger ones are hostile, and treated as unknown.
inline constexpr int64_t kLargestDim = int64_t{1} << 40U;

/// What is known of a tensor before anything runs. `numbers` are its contents, where they are few
/// and follow from constants and shapes alone.
struct Known {
  int type = kUndefined;
  std::optional<Dims> dims;
  std::optional<std::vector<double>> numbers;

  /// Unknown dimensions count as 1; 0 when nothing is known.
  double elements() const;
  double bytes() const { return elements() * element_bytes(type); }
  bool complete() const;
};

enum class Origin : uint8_t { input, initializer, node, missing };

struct Value {
  std::string name;
  Known known;
  Origin origin = Origin::missing;
  const Tensor* tensor = nullptr;  ///< of initializers and Constant nodes
  bool constant = false;           ///< the same in every inference
  int producer = -1;               ///< the step
};

/// One node at its place in the order of execution; nodes of nested graphs and functions have steps
/// of their own, before that of the node that holds them.
struct Step {
  const Node* node = nullptr;
  std::vector<int> inputs;  ///< values; -1 where left out
  std::vector<int> outputs;
  double times = 1;          ///< that it runs in one inference
  int level = 0;             ///< of nesting
  bool holds_steps = false;  ///< control flow or a function: its cost is that of its steps
  bool folded = false;       ///< follows from constants: nothing to do at run time
  int64_t opset = 0;
};

/// Two bodies of which one runs: steps [begin, middle) and [middle, end).
struct Choice {
  size_t begin = 0;
  size_t middle = 0;
  size_t end = 0;
};

struct TraceOptions {
  std::map<std::string, int64_t> dims;  ///< symbolic dimensions that the caller binds
};

/// A model laid out in the order of execution, with every shape that can be told.
struct Trace {
  std::vector<Value> values;
  std::vector<Step> steps;
  std::vector<int> inputs;  ///< of the main graph, without initializers
  std::vector<int> outputs;
  std::vector<Choice> choices;
  std::deque<Node> made;               ///< nodes of functions, as their caller means them
  std::set<std::string> unbound_dims;  ///< symbolic, counted as 1
  std::set<std::string> known_dims;    ///< all symbolic names of the model's inputs
  std::vector<std::string> assumptions;
  std::map<std::string, size_t> unknown_operators;
  std::vector<std::string> missing_values;
};

/// Follows the model's nodes, sorted first, and infers shapes by own rules with small integer
/// tensors evaluated. `model` must outlive the trace. Fails for cycles, and for what would take too
/// many steps or too much memory.
Result<Trace> trace(const Model& model, const TraceOptions& options);

}  // namespace assay::model
