// SPDX-License-Identifier: Apache-2.0
#include "layers.h"
#include "weights.h"

#include <string_view>

#include <assay/model/inspect.h>

namespace assay::model {
namespace {

bool is_pool(std::string_view op) {
  return op == "MaxPool" || op == "AveragePool" || op == "GlobalAveragePool" ||
         op == "QLinearAveragePool" || op == "QLinearGlobalAveragePool";
}

bool leaves_as_it_was(std::string_view op) {
  return op == "Identity" || op == "Dropout" || op == "Cast" || op == "QuantizeLinear" ||
         op == "DequantizeLinear";
}

/// The step that made each value, seen through those that leave it as it was.
using Makers = std::vector<const Step*>;

const Step* first_maker(const Makers& makers, const Step& step) {
  const int value = step.inputs.empty() ? -1 : step.inputs.front();
  return value < 0 ? nullptr : makers[static_cast<size_t>(value)];
}

Makers makers_of(const Trace& trace) {
  Makers makers(trace.values.size(), nullptr);
  for (const auto& step : trace.steps) {
    const Step* maker = leaves_as_it_was(step.node->op) ? first_maker(makers, step) : &step;
    for (const int output : step.outputs) {
      if (output >= 0) makers[static_cast<size_t>(output)] = maker;
    }
  }
  return makers;
}

bool is_after(const Makers& makers, const Step& step, std::string_view op) {
  const Step* made = first_maker(makers, step);
  return made != nullptr && made->node->op.ends_with(op);
}

bool has_stored_weights(const Trace& trace, const Step& step) {
  const std::string_view op = step.node->op;
  for (const size_t i : {weights_input(op), size_t{0}}) {
    if (i >= step.inputs.size() || step.inputs[i] < 0) continue;
    if (trace.values[static_cast<size_t>(step.inputs[i])].constant) return true;
  }
  return false;
}

bool is_fully_connected(const Trace& trace, const Makers& makers, const Step& step) {
  const std::string_view op = step.node->op;
  if (is_gemm(op)) return true;
  if (is_matmul(op)) return has_stored_weights(trace, step) || is_after(makers, step, "Flatten");
  return is_conv(op) && is_after(makers, step, "GlobalAveragePool");
}

double filters(const Trace& trace, const Step& step) {
  const size_t at = weights_input(step.node->op);
  if (at >= step.inputs.size() || step.inputs[at] < 0) return 0;
  const auto& dims = trace.values[static_cast<size_t>(step.inputs[at])].known.dims;
  return !dims || dims->empty() || dims->front() < 0 ? 0 : static_cast<double>(dims->front());
}

double bytes_of(const Trace& trace, const std::vector<int>& values) {
  double bytes = 0;
  for (const int value : values) {
    if (value >= 0) bytes += trace.values[static_cast<size_t>(value)].known.bytes();
  }
  return bytes;
}

}  // namespace

Counts counts(const Trace& trace) {
  Counts counts;
  const Makers makers = makers_of(trace);
  for (const auto& step : trace.steps) {
    const std::string_view op = step.node->op;
    if (is_conv(op)) {
      ++counts.conv_layers;
      counts.filter_details += filters(trace, step);
    }
    if (is_pool(op)) ++counts.pool_layers;
    if (is_fully_connected(trace, makers, step)) ++counts.fc_layers;
  }
  for (const auto& weight : weights(trace)) {
    counts.total_parameters += weight.elements;
    if (!weight.statistic) counts.trainable_parameters += weight.elements;
  }
  counts.model_input_size = bytes_of(trace, trace.inputs);
  counts.model_output_size = bytes_of(trace, trace.outputs);
  return counts;
}

}  // namespace assay::model
