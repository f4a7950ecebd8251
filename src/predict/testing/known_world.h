// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <assay/predict/predictor.h>
#include <assay/predict/runs.h>

/// Devices whose times are known by heart, for tests.
namespace assay::predict::testing {

/// From 0 to 1, the same on every machine.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  double operator()() { return static_cast<double>(random_() >> 11U) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * (*this)(); }

 private:
  std::mt19937_64 random_;
};

struct KnownDevice {
  std::string name;
  double cores = 4;
  double flops = 1e10;
  double bandwidth = 1e10;
  double launch = 2e-5;
};

inline RunModel known_model(size_t number) {
  static constexpr std::array<const char*, 6> kFamilies = {"a", "b", "c", "d", "e", "f"};
  Draw draw(number + 1);
  const size_t family = number % kFamilies.size();
  const double share = 0.1 + 0.15 * static_cast<double>(family);
  model::Workload work;
  const double macs = 1e7 * std::exp(draw.between(0, 4));
  work.macs_conv1x1 = macs * share;
  work.macs_conv3x3 = macs * (1 - share);
  work.operators = std::floor(draw.between(20, 100));
  work.conv_operators = std::floor(work.operators / 2);
  work.weight_bytes = macs * draw.between(0.005, 0.02);
  work.activation_bytes = macs * draw.between(0.01, 0.04);
  work.peak_activation_bytes = work.activation_bytes / 4;
  work.bytes_conv = 2 * work.activation_bytes;
  work.bytes_other = work.activation_bytes;
  RunModel model;
  model.family = kFamilies.at(family);
  model.name = model.family + "-" + std::to_string(number);
  model.counts.conv_layers = static_cast<uint64_t>(work.conv_operators);
  model.counts.filter_details = 64 * work.conv_operators;
  model.counts.total_parameters = work.weight_bytes / 4;
  model.counts.model_input_size = 602112;
  model.counts.model_output_size = 4000;
  model.workload = work;
  return model;
}

/// On an idle device.
inline double known_seconds(const KnownDevice& device, const model::Workload& work) {
  return work.operators * device.launch +
         2 * (1.3 * work.macs_conv1x1 + work.macs_conv3x3) / device.flops +
         (work.bytes_conv + work.bytes_other + work.weight_bytes) / device.bandwidth;
}
/// All cores are shared fairly, and caches a little.
inline double known_slowdown(double load) {
  return (1 + 0.3 * load) / std::max(1 - load, 0.5);
}

inline const std::vector<KnownDevice> kKnownDevices = {{"board", 4, 1e10, 2e9, 3e-5},
                                                       {"server", 8, 1e11, 1e10, 1e-5}};
inline constexpr std::array<double, 6> kKnownLoads = {0, 0, 0.2, 0.4, 0.6, 0.9};

/// As calibration would find it, with 2 % off.
inline Device calibrated(const KnownDevice& known) {
  Device device;
  device.name = known.name;
  device.cores = known.cores;
  device.figures = {{"flops_float32", 1.02 * known.flops},
                    {"bandwidth", 0.98 * known.bandwidth},
                    {"launch_seconds.opencv", known.launch}};
  return device;
}

/// Every model on every device under every load, with 1 % noise.
inline Runs known_runs(size_t models, const std::vector<KnownDevice>& devices = kKnownDevices) {
  Draw noise(7);
  Runs runs;
  for (const auto& device : devices) {
    runs.devices.push_back(calibrated(device));
    runs.tasks.push_back({device.name, "opencv", "float32"});
  }
  for (size_t number = 0; number < models; ++number) {
    runs.models.push_back(known_model(number));
    for (size_t task = 0; task < devices.size(); ++task)
      for (const double load : kKnownLoads) {
        const double seconds = known_seconds(devices.at(task), *runs.models.back().workload) *
                               known_slowdown(load) * noise.between(0.99, 1.01);
        runs.runs.push_back({number, task, load, devices.at(task).cores, seconds, false});
      }
  }
  return runs;
}

/// What is told of all tasks, under one load.
template <class Model>
std::vector<Estimate> tell_all(const Predictor& predictor, const Model& model, double load = 0) {
  std::vector<Asked> asked;
  for (size_t task = 0; task < predictor.tasks().size(); ++task) asked.push_back({task, load});
  return predictor.tell(model, asked);
}

}  // namespace assay::predict::testing
