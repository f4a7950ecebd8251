// SPDX-License-Identifier: Apache-2.0
#include "weights.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/base/wording.h>
#include <assay/model/inspect.h>

namespace assay::model {
namespace {

std::string label(const Node& node) {
  if (!node.name.empty()) return node.name;
  return node.outputs.empty() ? node.op : node.outputs.front();
}

bool sizes_known(const Trace& trace, const Step& step) {
  return std::all_of(step.outputs.begin(), step.outputs.end(), [&trace](int output) {
    return output < 0 || trace.values[static_cast<size_t>(output)].known.complete();
  });
}

void add_operators(const Trace& trace, Inspection& result) {
  const std::vector<Cost> list = costs(trace);
  for (size_t i = 0; i < trace.steps.size(); ++i) {
    const Step& step = trace.steps[i];
    ++result.operator_types[step.node->op];
    result.total += list[i];
    if (step.folded) continue;
    OperatorCost& one = result.operators.emplace_back();
    one.name = label(*step.node);
    one.type = step.node->op;
    one.times = step.times;
    one.cost = list[i];
    if (!step.outputs.empty() && step.outputs.front() >= 0)
      one.output = trace.values[static_cast<size_t>(step.outputs.front())].known;
    one.output.numbers.reset();
    if (step.times > 0 && !sizes_known(trace, step)) result.unknown_shapes.push_back(one.name);
  }
}

void add_weights(const Trace& trace, Inspection& result) {
  for (const auto& weight : weights(trace)) result.weight_bytes += weight.bytes;
  for (const auto& value : trace.values) {
    if (value.tensor != nullptr && value.tensor->place == Place::external)
      result.external_files.insert(value.tensor->location);
  }
}

void add_ends(const Trace& trace, const std::vector<int>& from, std::vector<Value>& to) {
  for (const int value : from) {
    if (value >= 0) to.push_back(trace.values[static_cast<size_t>(value)]);
  }
}

}  // namespace

Result<void> check_dims(const Trace& trace, const TraceOptions& options) {
  const std::vector<std::string_view> names(trace.known_dims.begin(), trace.known_dims.end());
  for (const auto& [name, size] : options.dims) {
    if (trace.known_dims.contains(name)) continue;
    if (names.empty())
      return bad_input(
          fmt::format("--dim {}: all sizes of this model's inputs are fixed", in_quotes(name)));
    return bad_input(fmt::format("--dim: the model's inputs have no dimension {}{}",
                                 in_quotes(name), suggestion(name, names)));
  }
  return {};
}

Inspection inspect(const Model& model, const Trace& trace) {
  Inspection result;
  result.file_bytes = model.file_bytes;
  result.ir_version = model.ir_version;
  result.producer = model.producer;
  result.opsets = model.opsets;
  result.counts = counts(trace);
  add_operators(trace, result);
  add_weights(trace, result);
  result.peak_activation_bytes = peak_activation_bytes(trace);
  add_ends(trace, trace.inputs, result.inputs);
  add_ends(trace, trace.outputs, result.outputs);
  result.unknown_operators = trace.unknown_operators;
  result.unbound_dims = trace.unbound_dims;
  result.assumptions = trace.assumptions;
  for (const auto& name : trace.missing_values)
    result.assumptions.push_back(
        fmt::format("nothing defines {}; its size is unknown", in_quotes(name)));
  return result;
}

Result<Inspection> inspect(const std::filesystem::path& file, const TraceOptions& options) {
  ASSAY_TRY(const MappedFile mapped, MappedFile::open(file));
  ASSAY_TRY(const Model model, scan(mapped.bytes(), file.native(), &mapped));
  auto traced = trace(model, options);
  if (!traced)
    return fail(
        {traced.error().kind, fmt::format("{}: {}", file.native(), traced.error().message)});
  ASSAY_CHECK(check_dims(*traced, options));
  Inspection result = inspect(model, *traced);
  result.file = file.native();
  return result;
}

}  // namespace assay::model
