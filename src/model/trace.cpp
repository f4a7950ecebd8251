// SPDX-License-Identifier: Apache-2.0
#include "fold.h"
#include "held.h"
#include "operators.h"
#include "sort.h"
#include "tracer.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/base/wording.h>

namespace assay::model {
namespace {

constexpr size_t kMostSteps = 300'000;
constexpr size_t kMostKept = size_t{256} << 20U;
constexpr size_t kMostFolded = kMostKept / 2;  ///< the rest is for shapes

Known known_of(const Tensor& tensor) {
  Known known;
  known.type = tensor.type;
  known.dims = tensor.dims;
  for (int64_t& dim : *known.dims) dim = std::min(dim, kLargestDim);
  known.numbers = tensor.numbers;
  return known;
}

/// A Constant node's value where it is no tensor.
Known known_of(const Attribute& attribute) {
  Known known;
  std::vector<double> list(attribute.integers.begin(), attribute.integers.end());
  if (!attribute.reals.empty()) list = attribute.reals;
  const bool scalar = attribute.integer || attribute.real;
  const bool text = attribute.name.starts_with("value_string");
  const bool real = attribute.name.starts_with("value_float");
  known.type = text ? kString : real ? kFloat : kInt64;
  if (attribute.integer) list = {static_cast<double>(*attribute.integer)};
  if (attribute.real) list = {*attribute.real};
  known.dims = scalar || attribute.name == "value_string"
                   ? Dims{}
                   : Dims{text ? kUnknownDim : static_cast<int64_t>(list.size())};
  if (!text && list.size() <= kSmallTensor) known.numbers = std::move(list);
  return known;
}

bool is_random(const Node& node) {
  return node.op.starts_with("Random") || node.op == "Bernoulli" || node.op == "Multinomial";
}

}  // namespace

void Tracer::assume(std::string what) {
  auto& list = trace_.assumptions;
  if (list.size() < 100 && std::find(list.begin(), list.end(), what) == list.end())
    list.push_back(std::move(what));
}

bool Tracer::afford(size_t bytes) {
  kept_ += bytes;
  return kept_ <= kMostKept;
}

Result<void> Tracer::check_size() const {
  if (kept_ > kMostKept)
    return bad_input(
        fmt::format("the model takes more than {} MiB of memory once its functions and graphs are "
                    "in place; make it simpler",
                    kMostKept >> 20U));
  return {};
}

void Tracer::keep(int id, Known known) {
  if (known.dims && known.dims->size() > kMostDims) known.dims.reset();
  if (afford(held_bytes(known))) trace_.values[static_cast<size_t>(id)].known = std::move(known);
}

int Tracer::add(std::string name, Origin origin) {
  (void)afford(sizeof(Value) + name.size() + kNameBytes);
  Value& value = trace_.values.emplace_back();
  value.name = std::move(name);
  value.origin = origin;
  return static_cast<int>(trace_.values.size()) - 1;
}

int Tracer::find(std::string_view name, const Scope& scope) const {
  for (const Scope* at = &scope; at != nullptr; at = at->parent) {
    const auto found = at->names.find(name);
    if (found != at->names.end()) return found->second;
  }
  return -1;
}

/// A name that nothing defines becomes a value of which nothing is known.
int Tracer::find_or_miss(std::string_view name, Scope& scope) {
  if (name.empty()) return -1;
  if (const int found = find(name, scope); found >= 0) return found;
  const int missing = add(std::string(name), Origin::missing);
  scope.names[name] = missing;
  if (trace_.missing_values.size() < 100) trace_.missing_values.emplace_back(name);
  return missing;
}

const Known& Tracer::known(int value) const {
  static const Known kNothing;
  return value < 0 ? kNothing : trace_.values[static_cast<size_t>(value)].known;
}

int64_t Tracer::declared_dim(const ValueInfo& info, size_t axis, bool is_input) {
  const Dimension& dim = info.dims[axis];
  if (dim.size && *dim.size >= 0 && dim.name.empty())
    return *dim.size > kLargestDim ? kUnknownDim : *dim.size;
  const std::string name = dim.name.empty() ? fmt::format("{}[{}]", info.name, axis) : dim.name;
  if (is_input && !afford(2 * (name.size() + kNameBytes))) return kUnknownDim;
  if (is_input) trace_.known_dims.insert(name);
  const auto bound = options_.dims.find(name);
  if (bound != options_.dims.end()) return bound->second;
  if (!is_input && !trace_.unbound_dims.contains(name)) return kUnknownDim;
  if (is_input) trace_.unbound_dims.insert(name);
  return 1;
}

Known Tracer::declared(const ValueInfo& info, bool is_input) {
  Known known;
  known.type = info.type;
  if (!info.has_shape) return known;
  known.dims.emplace();
  for (size_t i = 0; i < info.dims.size(); ++i)
    known.dims->push_back(declared_dim(info, i, is_input));
  return known;
}

void Tracer::add_initializers(const Graph& graph, Scope& scope) {
  for (const auto& tensor : graph.initializers) {
    const int id = add(tensor.name, Origin::initializer);
    keep(id, known_of(tensor));
    Value& value = trace_.values[static_cast<size_t>(id)];
    value.tensor = &tensor;
    value.constant = true;
    scope.names[tensor.name] = id;
  }
}

void Tracer::add_inputs(Scope& scope) {
  for (const auto& input : model_.graph.inputs) {
    if (scope.names.contains(input.name)) continue;  // a default for it: an initializer
    const int id = add(input.name, Origin::input);
    keep(id, declared(input, true));
    scope.names[input.name] = id;
    trace_.inputs.push_back(id);
    if (input.is_tensor && !input.has_shape)
      assume(fmt::format("the file does not tell the shape of input {}", in_quotes(input.name)));
  }
}

void Tracer::declare(const Graph& graph, Scope& scope) {
  for (const auto& value : graph.values) scope.declared[value.name] = &value;
  for (const auto& output : graph.outputs) scope.declared[output.name] = &output;
}

/// What the file itself tells of an output fills the gaps of what was inferred.
void Tracer::merge_declared(Step& step, const Scope& scope) {
  for (const int id : step.outputs) {
    if (id < 0) continue;
    Value& value = trace_.values[static_cast<size_t>(id)];
    const auto found = scope.declared.find(value.name);
    if (found == scope.declared.end()) continue;
    const Known told = declared(*found->second, false);
    Known& known = value.known;
    if (known.type == kUndefined) known.type = told.type;
    if (!known.dims && afford(held_bytes(told))) known.dims = told.dims;
    if (!told.dims || !known.dims || told.dims->size() != known.dims->size()) continue;
    for (size_t i = 0; i < told.dims->size(); ++i) {
      if ((*known.dims)[i] < 0) (*known.dims)[i] = (*told.dims)[i];
    }
  }
}

const Function* Tracer::function_of(const Node& node) const {
  const auto found = functions_.find({node.domain, node.op});
  return found == functions_.end() ? nullptr : found->second;
}

void Tracer::unknown(const Node& node) {
  const std::string name = node.domain.empty() ? node.op : node.domain + "." + node.op;
  ++trace_.unknown_operators[name];
}

void Tracer::constant(const Node& node, Step& step) {
  if (step.outputs.empty() || step.outputs.front() < 0) return;
  const int id = step.outputs.front();
  Value& value = trace_.values[static_cast<size_t>(id)];
  value.constant = true;
  step.folded = true;
  for (const auto& attribute : node.attributes) {
    if (!attribute.name.starts_with("value") && attribute.name != "sparse_value") continue;
    keep(id, attribute.tensor ? known_of(*attribute.tensor) : known_of(attribute));
    if (attribute.tensor) value.tensor = &*attribute.tensor;
  }
}

void Tracer::apply(Call& call, const Step& step) {
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i] < 0) continue;
    keep(step.outputs[i], std::move(call.out[i]));
    trace_.values[static_cast<size_t>(step.outputs[i])].constant = step.folded;
  }
}

void Tracer::plain(const Node& node, Step& step) {
  std::vector<const Known*> inputs;
  bool all_constant = !step.inputs.empty();
  for (const int id : step.inputs) {
    inputs.push_back(id < 0 ? nullptr : &known(id));
    all_constant = all_constant && (id < 0 || trace_.values[static_cast<size_t>(id)].constant);
  }
  step.folded = all_constant && !is_random(node);
  Call call(node, step.opset, std::move(inputs));
  const Operator* found = find_operator(node);
  if (found == nullptr) {
    unknown(node);
  } else {
    found->rule(call);
    if (!call.out.empty() && call.out.front().type == kUndefined)
      call.out.front().type = call.in(0).type;
    if (kept_ < kMostFolded) fold(call);
  }
  apply(call, step);
}

void Tracer::name_outputs(const Step& step, Scope& scope) {
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i] < 0) continue;
    const auto added = scope.names.insert_or_assign(step.node->outputs[i], step.outputs[i]);
    if (!added.second) assume("some values are made by two nodes; the later one counts");
    trace_.values[static_cast<size_t>(step.outputs[i])].producer =
        static_cast<int>(trace_.steps.size());
  }
}

Result<void> Tracer::node(const Node& node, Scope& scope, Place place) {
  if (trace_.steps.size() >= kMostSteps)
    return bad_input(fmt::format("the model has more than {} nodes once its functions are in place",
                                 kMostSteps));
  ASSAY_CHECK(check_size());
  Step step;
  step.node = &node;
  step.times = place.times;
  step.level = place.level;
  const auto opset = model_.opsets.find(node.domain);
  step.opset = opset == model_.opsets.end() ? 1 : opset->second;
  for (const auto& name : node.inputs) step.inputs.push_back(find_or_miss(name, scope));
  for (const auto& name : node.outputs)
    step.outputs.push_back(name.empty() ? -1 : add(name, Origin::node));
  (void)afford(sizeof step + (step.inputs.size() + step.outputs.size()) * sizeof(int));
  if (const Function* made = function_of(node)) {
    ASSAY_CHECK(function(*made, node, step, place));
  } else if (node.op == "If" && node.domain.empty()) {
    ASSAY_CHECK(choose(node, step, scope, place));
  } else if (node.op == "Loop" && node.domain.empty()) {
    ASSAY_CHECK(loop(node, step, scope, place));
  } else if (node.op == "Scan" && node.domain.empty()) {
    ASSAY_CHECK(scan_over(node, step, scope, place));
  } else if (node.op == "Constant" && node.domain.empty()) {
    constant(node, step);
  } else {
    plain(node, step);
  }
  merge_declared(step, scope);
  name_outputs(step, scope);
  trace_.steps.push_back(std::move(step));
  return {};
}

Result<void> Tracer::nodes(const std::vector<Node>& list, Scope& scope, Place place) {
  ASSAY_TRY(const auto order, sorted(list));
  for (const size_t at : order) ASSAY_CHECK(node(list[at], scope, place));
  return {};
}

Result<Trace> Tracer::run() {
  Scope scope;
  for (const auto& made : model_.functions) functions_.try_emplace({made.domain, made.name}, &made);
  add_initializers(model_.graph, scope);
  add_inputs(scope);
  declare(model_.graph, scope);
  ASSAY_CHECK(nodes(model_.graph.nodes, scope, {}));
  for (const auto& output : model_.graph.outputs)
    trace_.outputs.push_back(find_or_miss(output.name, scope));
  ASSAY_CHECK(check_size());
  return std::move(trace_);
}

Result<Trace> trace(const Model& model, const TraceOptions& options) {
  return Tracer(model, options).run();
}

}  // namespace assay::model
