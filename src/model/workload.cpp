// SPDX-License-Identifier: Apache-2.0
#include "layers.h"
#include "weights.h"

#include <fmt/format.h>

#include <assay/model/workload.h>

namespace assay::model {
namespace {

constexpr double kFewChannels = 16;

/// What of a convolution's weights decides how fast it is.
struct Kernel {
  double channels = 1;  ///< of the input, within one group
  double groups = 1;
  int64_t width = 0;  ///< 0: not the same in all directions

  bool depthwise() const { return groups > 1 && channels == 1; }
};

Kernel kernel_of(const Trace& trace, const Step& step) {
  Kernel kernel;
  if (const Attribute* group = step.node->attribute("group"); group != nullptr && group->integer)
    kernel.groups = static_cast<double>(*group->integer);
  const size_t at = weights_input(step.node->op);
  if (at >= step.inputs.size() || step.inputs[at] < 0) return kernel;
  const auto& dims = trace.values[static_cast<size_t>(step.inputs[at])].known.dims;
  if (!dims || dims->size() < 3) return kernel;
  // A transposed convolution has its weights the other way round.
  const bool transposed = step.node->op == "ConvTranspose";
  kernel.channels = static_cast<double>((*dims)[transposed ? 0 : 1]);
  if (transposed) kernel.channels /= kernel.groups;
  kernel.width = dims->back();
  for (size_t i = 2; i < dims->size(); ++i) {
    if ((*dims)[i] != kernel.width) kernel.width = 0;
  }
  return kernel;
}

void add_conv(const Kernel& kernel, double times, const Cost& cost, Workload& sum) {
  sum.conv_operators += times;
  const double bytes = cost.bytes_read + cost.bytes_written;
  if (kernel.depthwise()) {
    sum.depthwise_operators += times;
    sum.macs_depthwise += cost.macs;
    sum.bytes_depthwise += bytes;
    return;
  }
  sum.bytes_conv += bytes;
  if (kernel.channels < kFewChannels) sum.macs_few_channels += cost.macs;
  if (kernel.groups > 1) {
    sum.macs_grouped += cost.macs;
  } else if (kernel.width == 1) {
    sum.macs_conv1x1 += cost.macs;
  } else if (kernel.width == 3) {
    sum.macs_conv3x3 += cost.macs;
  } else {
    sum.macs_conv_other += cost.macs;
  }
}

void add_step(const Trace& trace, const Step& step, const Cost& cost, Workload& sum) {
  if (step.folded || step.holds_steps || step.times == 0) return;
  const std::string_view op = step.node->op;
  sum.operators += step.times;
  sum.activation_bytes += cost.bytes_written;
  if (is_conv(op) || op == "ConvTranspose") {
    add_conv(kernel_of(trace, step), step.times, cost, sum);
  } else if (is_gemm(op) || is_matmul(op)) {
    sum.matmul_operators += step.times;
    sum.macs_matmul += cost.macs;
    sum.bytes_matmul += cost.bytes_read + cost.bytes_written;
  } else {
    sum.macs_other += cost.macs;
    sum.bytes_other += cost.bytes_read + cost.bytes_written;
  }
}

/// By most of the weights: "int8" however they are signed.
std::string precision_of(const Trace& trace) {
  double all = 0;
  double bytes = 0;
  for (const auto& weight : weights(trace)) {
    all += weight.elements;
    bytes += weight.bytes;
  }
  if (all == 0 || bytes > 3 * all) return "float32";
  return bytes > 1.5 * all ? "float16" : "int8";
}

}  // namespace

double Workload::macs() const {
  return macs_conv1x1 + macs_conv3x3 + macs_conv_other + macs_depthwise + macs_grouped +
         macs_matmul + macs_other;
}

Workload workload(const Trace& trace) {
  Workload sum;
  const std::vector<Cost> list = costs(trace);
  for (size_t i = 0; i < list.size(); ++i) add_step(trace, trace.steps[i], list[i], sum);
  for (const auto& weight : weights(trace)) sum.weight_bytes += weight.bytes;
  sum.peak_activation_bytes = peak_activation_bytes(trace);
  return sum;
}

Characteristics characteristics(const Trace& trace) {
  Characteristics result{counts(trace), workload(trace), precision_of(trace), {}};
  result.pieces = pieces(trace).list;
  for (const int value : trace.inputs) {
    if (value >= 0) result.inputs.push_back(trace.values[static_cast<size_t>(value)]);
  }
  for (auto& input : result.inputs) input.tensor = nullptr;
  return result;
}

Result<Characteristics> characteristics(const std::filesystem::path& file,
                                        const TraceOptions& options) {
  ASSAY_TRY(const MappedFile mapped, MappedFile::open(file));
  ASSAY_TRY(const Model model, scan(mapped.bytes(), file.native(), &mapped));
  const auto traced = trace(model, options);
  if (!traced)
    return fail(
        {traced.error().kind, fmt::format("{}: {}", file.native(), traced.error().message)});
  ASSAY_CHECK(check_dims(*traced, options));
  return characteristics(*traced);
}

}  // namespace assay::model
