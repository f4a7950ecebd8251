// SPDX-License-Identifier: Apache-2.0
#include "weights.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace assay::model {
namespace {

/// What a value is used for, as bits.
using Use = uint8_t;
constexpr Use kShape = 1;
constexpr Use kNumber = 2;
constexpr Use kQuantized = 4;
constexpr Use kStatistic = 8;

/// Inputs that say how, where or how many, from `first` to `last`.
struct Span {
  size_t first;
  size_t last;
};

const std::unordered_map<std::string_view, Span>& shape_inputs() {
  constexpr size_t kRest = 99;
  static const std::unordered_map<std::string_view, Span> kSpans = {
      {"Reshape", {1, 1}},
      {"Expand", {1, 1}},
      {"Tile", {1, 1}},
      {"Slice", {1, kRest}},
      {"Squeeze", {1, 1}},
      {"Unsqueeze", {1, 1}},
      {"Gather", {1, 1}},
      {"GatherElements", {1, 1}},
      {"GatherND", {1, 1}},
      {"ScatterND", {1, 1}},
      {"ScatterElements", {1, 1}},
      {"Scatter", {1, 1}},
      {"Pad", {1, kRest}},
      {"Resize", {1, kRest}},
      {"Upsample", {1, 1}},
      {"ConstantOfShape", {0, 0}},
      {"TopK", {1, 1}},
      {"OneHot", {0, kRest}},
      {"Range", {0, kRest}},
      {"Split", {1, 1}},
      {"CumSum", {1, 1}},
      {"Trilu", {1, 1}},
      {"Dropout", {1, 2}},
      {"NonMaxSuppression", {2, kRest}},
      {"If", {0, 0}},
      {"Loop", {0, 1}},
      {"LSTM", {4, 4}},
      {"GRU", {4, 4}},
      {"RNN", {4, 4}},
      {"DFT", {1, 2}},
      {"MaxUnpool", {2, 2}},
      {"ReverseSequence", {1, 1}},
      {"SequenceAt", {1, 1}},
      {"SequenceErase", {1, 1}},
      {"SequenceInsert", {2, 2}},
      {"SplitToSequence", {1, 1}},
  };
  return kSpans;
}

bool is_shape_input(const Node& node, size_t input) {
  if (node.op.starts_with("Reduce")) return input == 1;
  const auto found = shape_inputs().find(node.op);
  return found != shape_inputs().end() && input >= found->second.first &&
         input <= found->second.last;
}

bool is_quantized(const Node& node) {
  return node.op.starts_with("QLinear") || node.op == "DequantizeLinear" ||
         node.op == "ConvInteger" || node.op.starts_with("MatMulInteger") ||
         node.op == "QAttention" || node.op == "QGemm" || node.op == "MatMulNBits" ||
         node.op == "DynamicQuantizeMatMul" || node.op == "QuantizeLinear";
}

/// The output has the first input's numbers (or some of them), in another form or place.
bool passes_on(const Node& node) {
  static const std::unordered_set<std::string_view> kPassing = {
      "Identity", "Cast",   "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten",
      "Slice",    "Concat", "Expand",  "Split",     "Tile",    "Gather",    "Dropout"};
  return kPassing.contains(node.op);
}

Use use_of(const Step& step, size_t input, Use of_outputs) {
  const Node& node = *step.node;
  if (is_shape_input(node, input)) return kShape;
  if (is_quantized(node)) return static_cast<Use>(kQuantized | kNumber);
  if (node.op == "BatchNormalization" && (input == 3 || input == 4)) return kStatistic;
  if (passes_on(node) && of_outputs != 0) return of_outputs;
  return kNumber;
}

std::vector<Use> uses(const Trace& trace) {
  std::vector<Use> found(trace.values.size(), 0);
  const auto at = [&found](int value) -> Use& { return found[static_cast<size_t>(value)]; };
  for (auto step = trace.steps.rbegin(); step != trace.steps.rend(); ++step) {
    Use of_outputs = 0;
    for (const int output : step->outputs) {
      if (output >= 0) of_outputs |= at(output);
    }
    for (size_t i = 0; i < step->inputs.size(); ++i) {
      if (step->inputs[i] < 0) continue;
      // A function's own steps say what it does with its inputs.
      const bool is_call = step->holds_steps && step->node->attributes.empty();
      if (!is_call) at(step->inputs[i]) |= use_of(*step, i, of_outputs);
    }
  }
  return found;
}

bool is_filled(const Trace& trace, const Value& value) {
  if (value.producer < 0 || !value.constant) return false;
  return trace.steps[static_cast<size_t>(value.producer)].node->op == "ConstantOfShape";
}

bool is_weight(const Value& value, Use use) {
  if (value.known.type == kString) return false;
  if (is_real(value.known.type)) return use != kShape;
  return (use & kQuantized) != 0;
}

}  // namespace

std::vector<Weight> weights(const Trace& trace) {
  const std::vector<Use> used = uses(trace);
  std::set<const char*> seen;  // a function's constants stand in the file once
  std::vector<Weight> list;
  for (size_t i = 0; i < trace.values.size(); ++i) {
    const Value& value = trace.values[i];
    if (value.tensor == nullptr && !is_filled(trace, value)) continue;
    if (!is_weight(value, used[i])) continue;
    if (value.tensor != nullptr && !value.tensor->message.empty() &&
        !seen.insert(value.tensor->message.data()).second)
      continue;
    Weight weight;
    weight.value = static_cast<int>(i);
    weight.elements = value.tensor != nullptr ? value.tensor->elements() : value.known.elements();
    weight.bytes = weight.elements * element_bytes(value.known.type);
    weight.statistic = used[i] == kStatistic;
    list.push_back(weight);
  }
  return list;
}

std::vector<int> roots(const Trace& trace, int value, std::unordered_set<int>& seen) {
  std::vector<int> found;
  if (!seen.insert(value).second) return found;
  std::vector<int> open = {value};
  while (!open.empty()) {
    const int next = open.back();
    open.pop_back();
    const Value& at = trace.values[static_cast<size_t>(next)];
    if (!at.constant) continue;
    if (at.tensor != nullptr || is_filled(trace, at)) {
      found.push_back(next);
      continue;
    }
    if (at.producer < 0) continue;
    for (const int input : trace.steps[static_cast<size_t>(at.producer)].inputs) {
      if (input >= 0 && seen.insert(input).second) open.push_back(input);
    }
  }
  return found;
}

}  // namespace assay::model
