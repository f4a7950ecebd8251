// SPDX-License-Identifier: Apache-2.0
#include "roofline.h"

#include <algorithm>

namespace assay::predict {
namespace {

constexpr double kUsualLaunch = 1e-5;  ///< seconds, where an engine's was not measured

std::optional<double> figure(const Device& device, const std::string& name) {
  const auto found = device.figures.find(name);
  if (found == device.figures.end()) return std::nullopt;
  return found->second;
}

/// What so many threads reach of a figure that is known of one core and of all.
std::optional<double> reached(const Device& device, const std::string& name, double threads) {
  const auto all = figure(device, name);
  const auto one = figure(device, name + "_one_core");
  if (!one || threads <= 0) return all ? all : one;
  return all ? std::min(*all, *one * threads) : *one;
}

}  // namespace

std::optional<double> roofline_seconds(const Device& device, const Task& task, double threads,
                                       const model::Workload& work) {
  auto flops = reached(device, task.precision == "int8" ? "ops_int8" : "flops_float32", threads);
  if (!flops) flops = reached(device, "flops_float32", threads);
  const auto bandwidth = reached(device, "bandwidth", threads);
  if (!flops || !bandwidth) return std::nullopt;
  const auto layers = [&](double macs, double bytes) {
    return std::max(2 * macs / *flops, bytes / *bandwidth);
  };
  const double convolutions =
      work.macs_conv1x1 + work.macs_conv3x3 + work.macs_conv_other + work.macs_grouped;
  const double launch = figure(device, "launch_seconds." + task.engine).value_or(kUsualLaunch);
  return layers(convolutions, work.bytes_conv) + layers(work.macs_depthwise, work.bytes_depthwise) +
         layers(work.macs_matmul, work.bytes_matmul) + layers(work.macs_other, work.bytes_other) +
         (work.operators + 1) * launch;
}

}  // namespace assay::predict
