// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "call.h"

#include <string_view>
#include <unordered_map>

namespace assay::model {

/// Walks a model's graph and writes down the trace. Used once.
class Tracer {
 public:
  Tracer(const Model& model, const TraceOptions& options) : model_(model), options_(options) {}

  Result<Trace> run();

 private:
  /// The names that a graph sees: its own and those around it.
  struct Scope {
    const Scope* parent = nullptr;
    std::unordered_map<std::string_view, int> names;
    std::unordered_map<std::string_view, const ValueInfo*> declared;
  };
  /// How often, and how deep, the nodes at hand run.
  struct Place {
    double times = 1;
    int level = 0;
  };
  using Body = std::vector<int>;  ///< the values of a nested graph's outputs
  /// What a Scan's body gets: states, then slices of what it runs over.
  struct ScanEnds {
    std::vector<Known> inputs;
    size_t states = 0;
    int64_t length = kUnknownDim;
    int64_t batch = kUnknownDim;
  };

  // The main graph.
  void add_inputs(Scope& scope);
  void add_initializers(const Graph& graph, Scope& scope);
  void declare(const Graph& graph, Scope& scope);
  Result<void> nodes(const std::vector<Node>& nodes, Scope& scope, Place place);
  Result<void> node(const Node& node, Scope& scope, Place place);

  // One node.
  void plain(const Node& node, Step& step);
  void constant(const Node& node, Step& step);
  void apply(Call& call, const Step& step);
  void unknown(const Node& node);
  void name_outputs(const Step& step, Scope& scope);
  Result<void> choose(const Node& node, Step& step, const Scope& scope, Place place);
  Result<void> loop(const Node& node, Step& step, const Scope& scope, Place place);
  Result<void> scan_over(const Node& node, Step& step, const Scope& scope, Place place);
  ScanEnds scan_ends(const Node& node, const Step& step);
  Result<void> function(const Function& function, const Node& caller, Step& step, Place place);
  /// Attributes that a function's nodes may refer to, by their names.
  using Given = std::unordered_map<std::string_view, const Attribute*>;
  Result<void> copy(const Node& node, const Given& given, const Scope& scope);

  // Nested graphs.
  Result<Body> body(const Graph& graph, const std::vector<Known>& inputs, const Scope& scope,
                    Place place);
  void add_given(const ValueInfo& info, Known given, Scope& scope);
  void give(const Step& step, size_t output, Known known);
  std::vector<Known> carried(const Step& step, size_t first, size_t count);

  // What hostile models may cost: whoever keeps something asks first, and leaves out what is too
  // much; the next node then ends the trace.
  static constexpr size_t kNameBytes = 64;  ///< of a scope's entry, roughly
  bool afford(size_t bytes);
  Result<void> check_size() const;

  // Values.
  void keep(int id, Known known);
  int add(std::string name, Origin origin);
  int find(std::string_view name, const Scope& scope) const;
  int find_or_miss(std::string_view name, Scope& scope);
  const Known& known(int value) const;
  Known declared(const ValueInfo& info, bool is_input);
  int64_t declared_dim(const ValueInfo& info, size_t axis, bool is_input);
  void merge_declared(Step& step, const Scope& scope);
  const Function* function_of(const Node& node) const;
  void assume(std::string what);

  const Model& model_;
  const TraceOptions& options_;
  Trace trace_;
  std::map<std::pair<std::string_view, std::string_view>, const Function*> functions_;
  size_t kept_ = 0;  ///< bytes, roughly
};

}  // namespace assay::model
