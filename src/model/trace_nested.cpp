// SPDX-License-Identifier: Apache-2.0
// Nodes that hold graphs: control flow and functions.
#include "tracer.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/base/wording.h>

namespace assay::model {
namespace {

constexpr int kDeepest = 24;
constexpr double kMostTrips = 1e6;  ///< "until the condition says so" is written as a huge number

const Graph* graph_of(const Node& node, std::string_view name) {
  const auto* found = node.attribute(name);
  return found == nullptr || found->graphs.empty() ? nullptr : &found->graphs.front();
}

std::string called(const Node& node) {
  return node.name.empty() ? "a " + node.op : fmt::format("{} {}", node.op, in_quotes(node.name));
}

Failure no_body(const Node& node) {
  return bad_input("the graph is invalid: " + called(node) + " has no body");
}

/// What holds for both.
Known common(const Known& a, const Known& b) {
  Known known = a;
  known.numbers.reset();
  if (!a.dims || !b.dims || a.dims->size() != b.dims->size()) {
    if (!a.dims) known.dims = b.dims;
    return known;
  }
  for (size_t i = 0; i < a.dims->size(); ++i) {
    if ((*a.dims)[i] != (*b.dims)[i]) (*known.dims)[i] = kUnknownDim;
  }
  return known;
}

Known with_length(Known known, int64_t length, size_t axis) {
  known.numbers.reset();
  if (!known.dims || axis > known.dims->size()) return known;
  known.dims->insert(known.dims->begin() + static_cast<ptrdiff_t>(axis), length);
  return known;
}

Known without_axis(Known known, size_t axis) {
  known.numbers.reset();
  if (!known.dims || axis >= known.dims->size()) {
    known.dims.reset();
    return known;
  }
  known.dims->erase(known.dims->begin() + static_cast<ptrdiff_t>(axis));
  return known;
}

size_t axis_in(const Dims& axes, size_t i, size_t rank) {
  return i < axes.size() ? axis_of(axes[i], rank).value_or(0) : 0;
}

/// Puts the caller's attribute, or the function's default, in the place of a reference.
void resolve(Attribute& attribute, const Function& function, const Node& caller) {
  if (attribute.reference.empty()) return;
  const auto* given = caller.attribute(attribute.reference);
  for (const auto& otherwise : function.defaults) {
    if (given == nullptr && otherwise.name == attribute.reference) given = &otherwise;
  }
  std::string name = std::move(attribute.name);
  attribute = given != nullptr ? *given : Attribute();
  attribute.name = std::move(name);
}

}  // namespace

void Tracer::give(Step& step, size_t output, const Known& known) {
  if (output >= step.outputs.size() || step.outputs[output] < 0) return;
  trace_.values[static_cast<size_t>(step.outputs[output])].known = known;
}

std::vector<Known> Tracer::carried(const Step& step, size_t first, size_t count) const {
  std::vector<Known> list;
  list.reserve(count);
  for (size_t i = first; i < first + count; ++i)
    list.push_back(i < step.inputs.size() ? known(step.inputs[i]) : Known());
  return list;
}

Result<Tracer::Body> Tracer::body(const Graph& graph, const std::vector<Known>& inputs,
                                  const Scope& scope, Place place) {
  if (place.level >= kDeepest) return bad_input("the model's graphs are nested too deep");
  Scope inner;
  inner.parent = &scope;
  add_initializers(graph, inner);
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const int id = add(graph.inputs[i].name, Origin::node);
    Known& known = trace_.values[static_cast<size_t>(id)].known;
    if (i < inputs.size()) known = inputs[i];
    const Known told = declared(graph.inputs[i], false);
    Known& filled = trace_.values[static_cast<size_t>(id)].known;
    if (filled.type == kUndefined) filled.type = told.type;
    if (!filled.dims) filled.dims = told.dims;
    inner.names[graph.inputs[i].name] = id;
  }
  declare(graph, inner);
  ASSAY_CHECK(nodes(graph.nodes, inner, {place.times, place.level + 1}));
  Body outputs;
  outputs.reserve(graph.outputs.size());
  for (const auto& output : graph.outputs) outputs.push_back(find_or_miss(output.name, inner));
  return outputs;
}

Result<void> Tracer::choose(const Node& node, Step& step, const Scope& scope, Place place) {
  const Graph* yes = graph_of(node, "then_branch");
  const Graph* no = graph_of(node, "else_branch");
  if (yes == nullptr || no == nullptr) return no_body(node);
  step.holds_steps = true;
  const auto condition = known(step.inputs.empty() ? -1 : step.inputs.front()).numbers;
  if (condition && condition->size() == 1) {
    // The other one is followed for its weights alone.
    const bool taken = condition->front() != 0;
    ASSAY_TRY(const Body outputs, body(taken ? *yes : *no, {}, scope, place));
    for (size_t i = 0; i < outputs.size(); ++i) give(step, i, Known(known(outputs[i])));
    ASSAY_CHECK(body(taken ? *no : *yes, {}, scope, {0, place.level}));
    return {};
  }
  Choice choice;
  choice.begin = trace_.steps.size();
  ASSAY_TRY(const Body first, body(*yes, {}, scope, place));
  choice.middle = trace_.steps.size();
  ASSAY_TRY(const Body second, body(*no, {}, scope, place));
  choice.end = trace_.steps.size();
  trace_.choices.push_back(choice);
  assume("of the two branches of an If whose condition depends on data, the dearer is counted");
  for (size_t i = 0; i < first.size() && i < second.size(); ++i)
    give(step, i, common(known(first[i]), known(second[i])));
  return {};
}

Result<void> Tracer::loop(const Node& node, Step& step, const Scope& scope, Place place) {
  const Graph* inner = graph_of(node, "body");
  if (inner == nullptr) return no_body(node);
  step.holds_steps = true;
  const auto& trips = known(step.inputs.empty() ? -1 : step.inputs.front()).numbers;
  const bool told =
      trips && trips->size() == 1 && trips->front() >= 0 && trips->front() <= kMostTrips;
  if (!told) assume(fmt::format("how often {} runs depends on data; counted once", called(node)));
  const double times = told ? trips->front() : 1;
  const size_t states = step.inputs.size() > 2 ? step.inputs.size() - 2 : 0;
  std::vector<Known> inputs = {{kInt64, Dims{}, {}}, {kBool, Dims{}, {}}};
  for (Known& state : carried(step, 2, states)) {
    state.numbers.reset();
    inputs.push_back(std::move(state));
  }
  ASSAY_TRY(const Body outputs, body(*inner, inputs, scope, {place.times * times, place.level}));
  for (size_t i = 1; i < outputs.size(); ++i) {
    const Known made = known(outputs[i]);
    if (i <= states)
      give(step, i - 1, common(made, inputs[i + 1]));
    else
      give(step, i - 1, with_length(made, told ? dim_from(times) : kUnknownDim, 0));
  }
  return {};
}

/// Up to opset 8 the lengths of sequences stand first, and everything has a batch dimension.
Tracer::ScanEnds Tracer::scan_ends(const Node& node, const Step& step) const {
  ScanEnds ends;
  const Call call(node, step.opset, {});
  const size_t first = step.opset < 9 ? 1 : 0;
  const size_t count = step.inputs.size() > first ? step.inputs.size() - first : 0;
  const int64_t told = std::max<int64_t>(0, call.integer("num_scan_inputs", 1));
  const size_t slices = std::min(count, static_cast<size_t>(told));
  ends.states = count - slices;
  const Dims axes = call.integers("scan_input_axes");
  for (Known& known : carried(step, first, count)) {
    known.numbers.reset();
    if (first != 0 && known.dims && !known.dims->empty()) ends.batch = known.dims->front();
    if (first != 0) known = without_axis(known, 0);
    if (ends.inputs.size() >= ends.states) {
      const size_t rank = known.dims ? known.dims->size() : 0;
      const size_t axis = axis_in(axes, ends.inputs.size() - ends.states, rank);
      if (axis < rank) ends.length = (*known.dims)[axis];
      known = without_axis(known, axis);
    }
    ends.inputs.push_back(std::move(known));
  }
  return ends;
}

Result<void> Tracer::scan_over(const Node& node, Step& step, const Scope& scope, Place place) {
  const Graph* inner = graph_of(node, "body");
  if (inner == nullptr) return no_body(node);
  step.holds_steps = true;
  const ScanEnds ends = scan_ends(node, step);
  if (ends.length < 0)
    assume(fmt::format("how often {} runs is not known; counted once", called(node)));
  const double times = ends.length < 0 ? 1 : static_cast<double>(ends.length);
  ASSAY_TRY(const Body outputs,
            body(*inner, ends.inputs, scope, {place.times * times, place.level}));
  const Dims axes = Call(node, step.opset, {}).integers("scan_output_axes");
  for (size_t i = 0; i < outputs.size(); ++i) {
    Known made = known(outputs[i]);
    if (i < ends.states) {
      made = common(made, ends.inputs[i]);
    } else {
      const size_t rank = made.dims ? made.dims->size() + 1 : 0;
      made = with_length(made, ends.length, axis_in(axes, i - ends.states, rank));
    }
    give(step, i, step.opset < 9 ? with_length(made, ends.batch, 0) : made);
  }
  return {};
}

/// A function's nodes run in the place of the one that calls it.
Result<void> Tracer::function(const Function& function, const Node& caller, Step& step,
                              Place place) {
  if (place.level >= kDeepest)
    return bad_input(fmt::format("the model's functions call each other without an end: {}",
                                 in_quotes(function.name)));
  step.holds_steps = true;
  Scope inner;
  for (size_t i = 0; i < function.inputs.size(); ++i)
    inner.names[function.inputs[i]] = i < step.inputs.size() ? step.inputs[i] : -1;
  const size_t begin = trace_.made.size();
  for (const auto& node : function.nodes) {
    Node& copy = trace_.made.emplace_back(node);
    for (auto& input : copy.inputs) {
      const auto found = inner.names.find(input);
      if (found != inner.names.end() && found->second < 0) input.clear();
    }
    for (auto& attribute : copy.attributes) resolve(attribute, function, caller);
  }
  const size_t end = trace_.made.size();
  for (size_t i = begin; i < end; ++i)
    ASSAY_CHECK(node(trace_.made[i], inner, {place.times, place.level + 1}));
  for (size_t i = 0; i < function.outputs.size() && i < step.outputs.size(); ++i) {
    const int made = find(function.outputs[i], inner);
    give(step, i, Known(known(made)));
  }
  return {};
}

}  // namespace assay::model
