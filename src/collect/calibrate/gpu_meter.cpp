// SPDX-License-Identifier: Apache-2.0
#include "calibrate/gpu_meter.h"

#include "calibrate/cuda_gpu.h"
#include "calibrate/gpu_kernels.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

namespace assay::collect {
namespace {

using SteadyClock = std::chrono::steady_clock;
/// Puts work into the GPU's queue, so many times.
using GpuWork = std::function<Result<void>(uint32_t times)>;

/// Of one measurement: far more than a launch takes, far less than a screen waits for.
constexpr double kSlice = 0.005;
constexpr unsigned kThreads = 256;
/// Fit on all generations at once.
constexpr unsigned kBlocksPerProcessor = 4;
/// Of each of three arrays: many times what caches hold, and more than the largest does.
constexpr size_t kStreamMost = size_t{1} << 30U;
constexpr size_t kStreamLeast = size_t{32} << 20U;
constexpr size_t kCopyBytes = size_t{64} << 20U;

double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

Failure not_done() {
  return refused("the GPU did something else than it was told");
}

class GpuMeter {
 public:
  GpuMeter(const CudaGpu& gpu, bool quick)
      : gpu_(gpu), warm_(quick ? 0.1 : 0.4), seconds_(quick ? 0.15 : 0.8) {}

  GpuFigures measure() {
    found_.model = gpu_.model();
    found_.memory_bytes = gpu_.memory_bytes();
    found_.count = gpu_.count();
    for (const auto& kernel : gpu_kernels()) put(kernel.figure, compute(kernel));
    put("gpu_bandwidth", stream());
    put("gpu_launch_seconds", launches());
    copies();
    return std::move(found_);
  }

 private:
  void put(const std::string& name, const Result<Measured>& figure) {
    if (!figure)
      found_.missing[name] = figure.error().message;
    else if (!(figure->value > 0) || !std::isfinite(figure->value))
      found_.missing[name] = "it could not be measured";
    else
      found_.figures[name] = *figure;
  }

  /// How often the work fills a slice, told when clocks are up and programs loaded.
  Result<uint32_t> warm_up(const GpuWork& work) const {
    constexpr double kMost = 1e6;
    double times = 1;
    for (const auto begin = SteadyClock::now(); seconds_since(begin) < warm_;) {
      const auto now = static_cast<uint32_t>(times);
      ASSAY_TRY(const double seconds, gpu_.seconds_of([&] { return work(now); }));
      times = std::clamp(now * kSlice / std::max(seconds, kSlice / 16), 1.0, kMost);
    }
    return static_cast<uint32_t>(times);
  }

  /// Rates of slices; `amount` is of work that is done once.
  Result<std::vector<double>> rates(double amount, const GpuWork& work) const {
    ASSAY_TRY(const uint32_t times, warm_up(work));
    std::vector<double> all;
    for (const auto begin = SteadyClock::now(); all.empty() || seconds_since(begin) < seconds_;) {
      ASSAY_TRY(const double seconds, gpu_.seconds_of([&] { return work(times); }));
      all.push_back(amount * times / seconds);
    }
    return all;
  }

  Result<Measured> compute(const GpuKernel& kernel) const {
    if (gpu_.capability() < kernel.capability)
      return refused(fmt::format("it takes a GPU of compute capability {}.{}, and this has {}.{}",
                                 kernel.capability / 10, kernel.capability % 10,
                                 gpu_.capability() / 10, gpu_.capability() % 10));
    const CudaGpu::Grid grid{kBlocksPerProcessor * gpu_.processors(), kThreads};
    ASSAY_TRY(const auto program, gpu_.load(kernel.ptx()));
    ASSAY_TRY(const auto function, gpu_.function(program, "work"));
    ASSAY_TRY(const auto out, gpu_.take(size_t{4} * grid.blocks * grid.threads));
    auto place = out.get();
    uint32_t rounds = 0;
    uint32_t x = kernel.x;
    uint32_t y = kernel.y;
    const GpuWork work = [&](uint32_t times) {
      rounds = times;
      return gpu_.launch(function, grid, {&place, &rounds, &x, &y});
    };
    const double threads = static_cast<double>(grid.blocks) * grid.threads;
    ASSAY_TRY(const auto found, rates(kernel.operations * threads, work));
    std::vector<uint32_t> results(kThreads);
    ASSAY_CHECK(gpu_.download(results.data(), place, 4 * results.size()));
    ASSAY_CHECK(gpu_.wait());
    if (!kernel.right(results, rounds)) return not_done();
    return best(found);
  }

  /// Never more than a quarter of what is free.
  Result<size_t> stream_bytes() const {
    ASSAY_TRY(const size_t free, gpu_.free_bytes());
    const size_t bytes = std::min(kStreamMost, free / 4 / 3) / kStreamBytes * kStreamBytes;
    if (bytes < kStreamLeast) return refused("the GPU's memory is full");
    return bytes;
  }

  Result<Measured> stream() const {
    ASSAY_TRY(const size_t bytes, stream_bytes());
    ASSAY_TRY(const auto program, gpu_.load(stream_ptx()));
    ASSAY_TRY(const auto triad, gpu_.function(program, "triad"));
    ASSAY_TRY(const auto fill, gpu_.function(program, "fill"));
    std::vector<CudaGpu::Memory> memory;
    std::vector<CudaGpu::Address> places;
    const CudaGpu::Grid grid{static_cast<unsigned>(bytes / kStreamBytes), kStreamThreads};
    for (uint32_t seed = 0; seed < 3; ++seed) {
      ASSAY_TRY(auto taken, gpu_.take(bytes));
      places.push_back(taken.get());
      memory.push_back(std::move(taken));
      ASSAY_CHECK(gpu_.launch(fill, grid, {&places.back(), &seed}));
    }
    float factor = 3;
    const GpuWork work = repeated([&] {
      return gpu_.launch(triad, grid, {&places[0], &places[1], &places[2], &factor});
    });
    ASSAY_TRY(const auto found, rates(3.0 * static_cast<double>(bytes), work));
    ASSAY_CHECK(check_stream(places, bytes));
    return best(found);
  }

  static GpuWork repeated(const std::function<Result<void>()>& once) {
    return [once](uint32_t times) -> Result<void> {
      for (uint32_t i = 0; i < times; ++i) ASSAY_CHECK(once());
      return {};
    };
  }

  /// The last block's worth, which is there only when all was gone over.
  Result<void> check_stream(const std::vector<CudaGpu::Address>& places, size_t bytes) const {
    std::vector<std::vector<float>> arrays;
    for (const auto place : places) {
      auto& array = arrays.emplace_back(kStreamBytes / sizeof(float));
      ASSAY_CHECK(gpu_.download(array.data(), place + bytes - kStreamBytes, kStreamBytes));
    }
    ASSAY_CHECK(gpu_.wait());
    for (size_t i = 0; i < arrays[0].size(); ++i)
      if (arrays[0][i] != std::fma(arrays[2][i], 3.0F, arrays[1][i]) || !(arrays[1][i] >= 1))
        return not_done();
    return {};
  }

  /// From the call to the end of the wait, one after another.
  Result<Measured> launches() const {
    ASSAY_TRY(const auto program, gpu_.load(stream_ptx()));
    ASSAY_TRY(const auto nothing, gpu_.function(program, "nothing"));
    std::vector<double> found;
    for (const auto begin = SteadyClock::now(); seconds_since(begin) < warm_ + seconds_;) {
      const auto start = SteadyClock::now();
      ASSAY_CHECK(gpu_.launch(nothing, {}, {}));
      ASSAY_CHECK(gpu_.wait());
      const double seconds = seconds_since(start);
      if (seconds_since(begin) > warm_) found.push_back(1 / seconds);
    }
    const Measured rate = typical(found);
    return Measured{1 / rate.value, rate.spread};
  }

  void copies() {
    const auto memory = copy_memory();
    const auto pinned = memory ? gpu_.take_pinned(kCopyBytes) : fail(memory.error());
    if (!pinned) {
      put("gpu_upload_bytes_per_second", fail(pinned.error()));
      put("gpu_download_bytes_per_second", fail(pinned.error()));
      return;
    }
    const auto place = memory->get();
    void* const host = pinned->get();
    constexpr unsigned char kSent = 0x5A;
    std::memset(host, kSent, kCopyBytes);
    put("gpu_upload_bytes_per_second", copy([&] { return gpu_.upload(place, host, kCopyBytes); }));
    std::memset(host, 0, kCopyBytes);
    auto down = copy([&] { return gpu_.download(host, place, kCopyBytes); });
    if (down && static_cast<unsigned char*>(host)[kCopyBytes - 1] != kSent) down = not_done();
    put("gpu_download_bytes_per_second", down);
  }

  Result<CudaGpu::Memory> copy_memory() const {
    ASSAY_TRY(const size_t free, gpu_.free_bytes());
    if (free / 4 < kCopyBytes) return refused("the GPU's memory is full");
    return gpu_.take(kCopyBytes);
  }

  Result<Measured> copy(const std::function<Result<void>()>& once) const {
    ASSAY_TRY(const auto found, rates(static_cast<double>(kCopyBytes), repeated(once)));
    return typical(found);
  }

  const CudaGpu& gpu_;
  double warm_;
  double seconds_;
  GpuFigures found_;
};

}  // namespace

Result<GpuFigures> measure_gpu(const char* library, bool quick) {
  // Else the driver keeps what it compiles in the user's home folder.
  ::setenv("CUDA_CACHE_DISABLE", "1", 0);
  ASSAY_TRY(const CudaGpu gpu, CudaGpu::open(library));
  return GpuMeter(gpu, quick).measure();
}

}  // namespace assay::collect
