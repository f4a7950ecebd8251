// SPDX-License-Identifier: Apache-2.0
#include "calibrate/disk.h"
#include "calibrate/gpu.h"
#include "calibrate/kernels.h"
#include "calibrate/launch_overhead.h"
#include "calibrate/memory.h"
#include "calibrate/network.h"
#include "calibrate/slices.h"

#include <algorithm>
#include <cmath>

#include <assay/collect/calibrate.h>
#include <assay/collect/collect.h>
#include <assay/infer/find_engine.h>
#include <assay/probes/probe.h>

namespace assay::collect {
namespace {

/// More than the caches of most machines, less than the memory of the smallest.
constexpr double kMemoryBytes = 256e6;
constexpr size_t kDiskBytes = size_t{256} << 20U;

struct Kernel {
  const char* figure;
  const char* words;
  double (*run)(size_t rounds);
  double (*operations)();
};
constexpr std::array kKernels = {
    Kernel{"flops_float32", "float32", fma_float32, fma_float32_operations},
    Kernel{"flops_float64", "float64", fma_float64, fma_float64_operations},
    Kernel{"ops_int8", "int8", dot_int8, dot_int8_operations},
};

/// Work in pieces of some tens of microseconds.
Work work_of(const Kernel& kernel) {
  const auto rounds = static_cast<size_t>(std::max(1.0, 2e6 / kernel.operations()));
  const double amount = static_cast<double>(rounds) * kernel.operations();
  return [&kernel, rounds, amount] {
    // Read by nobody, and known to nobody but the compiler to be so.
    volatile double result = kernel.run(rounds);
    static_cast<void>(result);
    return amount;
  };
}

class Calibrator {
 public:
  Calibrator(const CalibrateOptions& options, const CalibrateListener& listener)
      : options_(options),
        listener_(listener),
        cpus_(options.share.cpus.empty() ? own_cpus() : options.share.cpus) {
    timing_.seconds = options.quick ? 0.3 : 2;
    if (options.share.quota > 0) {
      // Shorter slices would see the full core between two turns of the quota.
      timing_.wall = true;
      timing_.slice = options.quick ? 0.05 : 0.2;
    }
  }

  Result<Calibration> run() {
    identify();
    for (const auto part : {&Calibrator::compute, &Calibrator::memory, &Calibrator::launches,
                            &Calibrator::disk, &Calibrator::network, &Calibrator::gpu}) {
      if (!listener_.wanted()) return refused("interrupted");
      (this->*part)();
    }
    if (!listener_.wanted()) return refused("interrupted");
    found_.measured = SystemClock().now();
    return std::move(found_);
  }

 private:
  void identify() {
    const Device machine = probes::read_device(SysRoot());
    auto& device = found_.device;
    device.name = options_.name.empty() ? machine.hostname : options_.name;
    device.uuid = machine.machine_id;
    device.kind = machine.device_class;
    device.model = machine.model.empty() ? machine.cpu_model : machine.model;
    device.cores = cores_of(options_.share);
    device.memory_bytes = static_cast<double>(machine.memory_bytes);
  }

  void put(const std::string& name, const Measured& figure) {
    if (!(figure.value > 0) || !std::isfinite(figure.value)) {
      found_.missing[name] = "it could not be measured";
      return;
    }
    found_.device.figures[name] = figure.value;
    found_.spread[name] = figure.spread;
  }

  void compute() {
    // Slices of a quota have more turns or fewer by chance.
    const auto pick = timing_.wall ? typical : best;
    for (const auto& kernel : kKernels) {
      if (!listener_.wanted()) return;
      listener_.doing(std::string("computing in ") + kernel.words);
      const auto make = [&] { return work_of(kernel); };
      put(std::string(kernel.figure) + "_one_core",
          pick(slice_rates_on({cpus_.front()}, make, timing_).front()));
      put(kernel.figure, sum_of(slice_rates_on(cpus_, make, timing_), pick));
    }
  }

  void memory() {
    listener_.doing("memory");
    const double some = found_.device.memory_bytes / 8;
    const double bytes = some > 0 ? std::min(kMemoryBytes, some) : kMemoryBytes;
    Timing longer = timing_;
    longer.seconds *= 2;  // others disturb it most, and for longer
    const auto figures = measure_memory(cpus_, static_cast<size_t>(bytes), longer);
    put("bandwidth_one_core", figures.bandwidth_one_core);
    put("bandwidth", figures.bandwidth);
    put("latency_seconds", figures.latency);
    if (figures.contended)
      put("latency_contended_seconds", *figures.contended);
    else
      found_.missing["latency_contended_seconds"] = "it takes two cores";
  }

  void launches() {
    const auto tiny = TinyModel::make();
    std::vector<std::string> engines = options_.engines;
    if (engines.empty()) engines.assign(infer::kEngines.begin(), infer::kEngines.end());
    const int threads = std::max(1, static_cast<int>(std::ceil(found_.device.cores)));
    for (const auto& engine : engines) {
      listener_.doing("the engine " + engine);
      if (!listener_.wanted()) return;
      const std::string name = "launch_seconds.";
      const auto timed = tiny ? tiny->time_on(engine, threads, timing_.seconds)
                              : Result<TinyModel::Timed>(fail(tiny.error()));
      if (timed)
        put(name + timed->engine, timed->seconds);
      else
        found_.missing[name + engine] = timed.error().message;
    }
  }

  void disk() {
    listener_.doing("the disk");
    const auto figures =
        measure_disk(options_.folder, kDiskBytes / (options_.quick ? 8 : 1), 3 * timing_.seconds);
    if (!figures) {
      found_.missing["disk"] = figures.error().message;
      return;
    }
    put("disk_read_bytes_per_second", figures->read);
    put("disk_write_bytes_per_second", figures->write);
  }

  void network() {
    listener_.doing(options_.peer.empty() ? "the network, to itself"
                                          : "the network to " + options_.peer);
    // Placement counts transfers by the second alone: to oneself is no network.
    const char* const figure =
        options_.peer.empty() ? "loopback_bytes_per_second" : "network_bytes_per_second";
    const auto speed = measure_network(options_.peer, timing_.seconds);
    if (speed)
      put(figure, *speed);
    else
      found_.missing[figure] = speed.error().message;
  }

  void gpu() {
    constexpr Milliseconds kPatience{60'000};
    listener_.doing("the GPU");
    const auto found = measured_gpu(find_gpu(), options_.gpu_command, kPatience, listener_.wanted);
    if (!found) {
      found_.missing["gpu"] = found.error().message;
      return;
    }
    found_.device.gpu_model = found->model;
    found_.device.gpu_memory_bytes = found->memory_bytes;
    found_.device.gpus = found->count;
    for (const auto& [name, figure] : found->figures) put(name, figure);
    for (const auto& [name, why] : found->missing) found_.missing[name] = why;
  }

  const CalibrateOptions& options_;
  const CalibrateListener& listener_;
  std::vector<int> cpus_;
  Timing timing_;
  Calibration found_;
};

}  // namespace

Result<Calibration> calibrate(const CalibrateOptions& options, const CalibrateListener& listener) {
  return Calibrator(options, listener).run();
}

}  // namespace assay::collect
