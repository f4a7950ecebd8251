// SPDX-License-Identifier: Apache-2.0
#include "operators.h"
#include "weights.h"

#include <algorithm>
#include <unordered_map>

#include <assay/model/inspect.h>

namespace assay::model {
namespace {

const Known* known_at(const Trace& trace, int value) {
  return value < 0 ? nullptr : &trace.values[static_cast<size_t>(value)].known;
}

/// The call as it was traced, with its outputs.
Call call_of(const Trace& trace, const Step& step) {
  std::vector<const Known*> inputs;
  inputs.reserve(step.inputs.size());
  for (const int input : step.inputs) inputs.push_back(known_at(trace, input));
  Call call(*step.node, step.opset, std::move(inputs));
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    if (const Known* known = known_at(trace, step.outputs[i])) call.out[i] = *known;
  }
  return call;
}

double bytes_of(const Trace& trace, const std::vector<int>& values, size_t first) {
  double bytes = 0;
  for (size_t i = first; i < values.size(); ++i) {
    if (const Known* known = known_at(trace, values[i])) bytes += known->bytes();
  }
  return bytes;
}

void add_traffic(const Trace& trace, const Step& step, Traffic traffic, Cost& cost) {
  const double written = bytes_of(trace, step.outputs, 0);
  if (traffic == Traffic::none) return;
  cost.bytes_written = written;
  if (traffic == Traffic::all) cost.bytes_read = bytes_of(trace, step.inputs, 0);
  if (traffic == Traffic::picks) cost.bytes_read = written + bytes_of(trace, step.inputs, 1);
}

Cost cost_of(const Trace& trace, const Step& step) {
  Cost cost;
  if (step.folded || step.holds_steps) return cost;
  const Operator* known = find_operator(*step.node);
  if (known == nullptr) {
    add_traffic(trace, step, Traffic::all, cost);
  } else {
    const Work work = known->work(call_of(trace, step));
    cost.macs = work.macs;
    cost.flops = work.flops + 2 * work.macs;
    add_traffic(trace, step, work.traffic, cost);
  }
  for (double* part : {&cost.macs, &cost.flops, &cost.bytes_read, &cost.bytes_written})
    *part *= step.times;
  return cost;
}

/// The branch that costs less does not run.
void drop_cheaper(const Trace& trace, std::vector<Cost>& list) {
  for (const auto& choice : trace.choices) {
    const auto sum = [&list](size_t begin, size_t end) {
      double flops = 0;
      for (size_t i = begin; i < end; ++i) flops += list[i].flops;
      return flops;
    };
    const bool first = sum(choice.begin, choice.middle) < sum(choice.middle, choice.end);
    const size_t end = first ? choice.middle : choice.end;
    for (size_t i = first ? choice.begin : choice.middle; i < end; ++i) list[i] = Cost();
  }
}

void add_parameters(const Trace& trace, std::vector<Cost>& list) {
  std::unordered_map<int, double> left;
  for (const auto& weight : weights(trace)) left[weight.value] = weight.elements;
  std::unordered_set<int> seen;
  for (size_t i = 0; i < trace.steps.size(); ++i) {
    if (trace.steps[i].folded) continue;
    for (const int input : trace.steps[i].inputs) {
      if (input < 0 || !trace.values[static_cast<size_t>(input)].constant) continue;
      for (const int root : roots(trace, input, seen)) {
        const auto found = left.find(root);
        if (found == left.end()) continue;
        list[i].parameters += found->second;
        left.erase(found);
      }
    }
  }
}

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
  macs += other.macs;
  flops += other.flops;
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  parameters += other.parameters;
  return *this;
}

std::vector<Cost> costs(const Trace& trace) {
  std::vector<Cost> list;
  list.reserve(trace.steps.size());
  for (const auto& step : trace.steps) list.push_back(cost_of(trace, step));
  drop_cheaper(trace, list);
  add_parameters(trace, list);
  return list;
}

}  // namespace assay::model
