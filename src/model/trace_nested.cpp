// SPDX-License-Identifier: Apache-2.0
// Nodes that hold graphs: control flow and functions.
#include "held.h"
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

}  // namespace

void Tracer::give(const Step& step, size_t output, Known known) {
  if (output < step.outputs.size() && step.outputs[output] >= 0)
    keep(step.outputs[output], std::move(known));
}

/// Types and shapes; the contents change from trip to trip.
std::vector<Known> Tracer::carried(const Step& step, size_t first, size_t count) {
  std::vector<Known> list(count);
  for (size_t i = 0; i < count && first + i < step.inputs.size(); ++i) {
    const Known& from = known(step.inputs[first + i]);
    list[i].type = from.type;
    if (from.dims && afford(from.dims->size() * sizeof(int64_t))) list[i].dims = from.dims;
  }
  return list;
}

/// What a nested graph says of its input itself fills the gaps.
void Tracer::add_given(const ValueInfo& info, Known given, Scope& scope) {
  const int id = add(info.name, Origin::node);
  Known told = declared(info, false);
  if (given.type == kUndefined) given.type = told.type;
  if (!given.dims) given.dims = std::move(told.dims);
  keep(id, std::move(given));
  scope.names[info.name] = id;
}

Result<Tracer::Body> Tracer::body(const Graph& graph, const std::vector<Known>& inputs,
                                  const Scope& scope, Place place) {
  if (place.level >= kDeepest) return bad_input("the model's graphs are nested too deep");
  Scope inner;
  inner.parent = &scope;
  add_initializers(graph, inner);
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    add_given(graph.inputs[i], i < inputs.size() ? inputs[i] : Known(), inner);
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
    for (size_t i = 0; i < outputs.size(); ++i) give(step, i, known(outputs[i]));
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
  for (Known& state : carried(step, 2, states)) inputs.push_back(std::move(state));
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
Tracer::ScanEnds Tracer::scan_ends(const Node& node, const Step& step) {
  ScanEnds ends;
  const Call call(node, step.opset, {});
  const size_t first = step.opset < 9 ? 1 : 0;
  const size_t count = step.inputs.size() > first ? step.inputs.size() - first : 0;
  const int64_t told = std::max<int64_t>(0, call.integer("num_scan_inputs", 1));
  const size_t slices = std::min(count, static_cast<size_t>(told));
  ends.states = count - slices;
  const Dims axes = call.integers("scan_input_axes");
  for (Known& known : carried(step, first, count)) {
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

/// A function's node with the caller's attributes, or its defaults, in the place of references.
Result<void> Tracer::copy(const Node& node, const Given& given, const Scope& scope) {
  if (!afford(held_bytes(node))) return check_size();
  Node& made = trace_.made.emplace_back(node);
  for (auto& input : made.inputs) {
    const auto found = scope.names.find(input);
    if (found != scope.names.end() && found->second < 0) input.clear();
  }
  for (auto& attribute : made.attributes) {
    if (attribute.reference.empty()) continue;
    const auto found = given.find(attribute.reference);
    if (found != given.end() && !afford(held_bytes(*found->second))) return check_size();
    std::string name = std::move(attribute.name);
    attribute = found != given.end() ? *found->second : Attribute();
    attribute.name = std::move(name);
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
  const size_t names = function.inputs.size() + caller.attributes.size() + function.defaults.size();
  if (!afford(names * kNameBytes)) return check_size();
  Scope inner;
  for (size_t i = 0; i < function.inputs.size(); ++i)
    inner.names[function.inputs[i]] = i < step.inputs.size() ? step.inputs[i] : -1;
  Given given;
  for (const auto& attribute : caller.attributes) given.try_emplace(attribute.name, &attribute);
  for (const auto& attribute : function.defaults) given.try_emplace(attribute.name, &attribute);
  const size_t begin = trace_.made.size();
  for (const auto& node : function.nodes) ASSAY_CHECK(copy(node, given, inner));
  const size_t end = trace_.made.size();
  for (size_t i = begin; i < end; ++i)
    ASSAY_CHECK(node(trace_.made[i], inner, {place.times, place.level + 1}));
  for (size_t i = 0; i < function.outputs.size() && i < step.outputs.size(); ++i) {
    const int made = find(function.outputs[i], inner);
    give(step, i, known(made));
  }
  return {};
}

}  // namespace assay::model
