// SPDX-License-Identifier: Apache-2.0
#include "calibrate/cuda_gpu.h"

#include <array>

namespace assay::collect {
namespace {

enum Attribute { kProcessors = 16, kCapabilityMajor = 75, kCapabilityMinor = 76 };

}  // namespace

Result<CudaGpu> CudaGpu::open(const char* library) {
  ASSAY_TRY(const CudaDriver driver, CudaDriver::load(library));
  CudaGpu gpu(driver);
  ASSAY_CHECK(gpu.identify());
  ASSAY_CHECK(gpu.enter());
  return gpu;
}

CudaGpu::CudaGpu(CudaGpu&& other) noexcept
    : driver_(other.driver_),
      device_(other.device_),
      entered_(std::exchange(other.entered_, false)),
      model_(std::move(other.model_)),
      memory_bytes_(other.memory_bytes_),
      count_(other.count_),
      capability_(other.capability_),
      processors_(other.processors_),
      events_(std::move(other.events_)) {}

CudaGpu::~CudaGpu() {
  events_.clear();
  if (entered_) driver_.context_release(device_);
}

Result<void> CudaGpu::identify() {
  ASSAY_CHECK(driver_.check(driver_.device_count(&count_), "count GPUs"));
  ASSAY_CHECK(driver_.check(driver_.device_get(&device_, 0), "find the first GPU"));
  std::array<char, 256> name{};
  const int size = static_cast<int>(name.size()) - 1;
  ASSAY_CHECK(driver_.check(driver_.device_name(name.data(), size, device_), "read its name"));
  model_ = name.data();
  size_t bytes = 0;
  ASSAY_CHECK(driver_.check(driver_.device_memory(&bytes, device_), "read its memory's size"));
  memory_bytes_ = static_cast<double>(bytes);
  std::array<int, 3> values{};
  constexpr std::array kAsked = {kProcessors, kCapabilityMajor, kCapabilityMinor};
  for (size_t i = 0; i < kAsked.size(); ++i)
    ASSAY_CHECK(driver_.check(driver_.device_attribute(&values.at(i), kAsked.at(i), device_),
                              "read what it can do"));
  processors_ = static_cast<unsigned>(values[0]);
  capability_ = 10 * values[1] + values[2];
  return {};
}

Result<void> CudaGpu::enter() {
  CudaDriver::Handle context = nullptr;
  ASSAY_CHECK(driver_.check(driver_.context_retain(&context, device_), "use the GPU"));
  entered_ = true;
  ASSAY_CHECK(driver_.check(driver_.context_use(context), "use the GPU"));
  for (int i = 0; i < 2; ++i) {
    CudaDriver::Handle event = nullptr;
    ASSAY_CHECK(driver_.check(driver_.event_make(&event, 0), "take its time"));
    events_.emplace_back(event, driver_.event_destroy);
  }
  return {};
}

Result<size_t> CudaGpu::free_bytes() const {
  size_t free = 0;
  size_t total = 0;
  ASSAY_CHECK(driver_.check(driver_.memory_info(&free, &total), "ask for its free memory"));
  return free;
}

Result<CudaGpu::Memory> CudaGpu::take(size_t bytes) const {
  Address place = 0;
  ASSAY_CHECK(driver_.check(driver_.memory_take(&place, bytes), "take memory of the GPU"));
  Memory memory(place, driver_.memory_give);
  ASSAY_CHECK(driver_.check(driver_.memory_set(place, 0xFF, bytes), "fill memory of the GPU"));
  return memory;
}

Result<CudaGpu::Handle> CudaGpu::take_pinned(size_t bytes) const {
  void* place = nullptr;
  ASSAY_CHECK(driver_.check(driver_.pinned_take(&place, bytes, 0), "take memory that stays"));
  return Handle(place, driver_.pinned_give);
}

Result<CudaGpu::Handle> CudaGpu::load(const std::string& ptx) const {
  CudaDriver::Handle program = nullptr;
  ASSAY_CHECK(driver_.check(driver_.module_load(&program, ptx.c_str(), 0, nullptr, nullptr),
                            "have the driver compile for this GPU"));
  return Handle(program, driver_.module_unload);
}

Result<CudaDriver::Handle> CudaGpu::function(const Handle& program, const char* name) const {
  CudaDriver::Handle found = nullptr;
  ASSAY_CHECK(driver_.check(driver_.module_function(&found, program.get(), name),
                            "find what was compiled"));
  return found;
}

Result<void> CudaGpu::launch(CudaDriver::Handle function, Grid grid,
                             std::vector<void*> arguments) const {
  return driver_.check(driver_.launch(function, grid.blocks, 1, 1, grid.threads, 1, 1, 0, nullptr,
                                      arguments.data(), nullptr),
                       "start work on the GPU");
}

Result<void> CudaGpu::upload(Address to, const void* from, size_t bytes) const {
  return driver_.check(driver_.upload(to, from, bytes, nullptr), "copy to the GPU");
}

Result<void> CudaGpu::download(void* to, Address from, size_t bytes) const {
  return driver_.check(driver_.download(to, from, bytes, nullptr), "copy from the GPU");
}

Result<void> CudaGpu::wait() const {
  return driver_.check(driver_.context_wait(), "finish work on the GPU");
}

Result<double> CudaGpu::seconds_of(const std::function<Result<void>()>& work) const {
  const auto begin = events_.at(0).get();
  const auto end = events_.at(1).get();
  ASSAY_CHECK(driver_.check(driver_.event_record(begin, nullptr), "take its time"));
  ASSAY_CHECK(work());
  ASSAY_CHECK(driver_.check(driver_.event_record(end, nullptr), "take its time"));
  ASSAY_CHECK(driver_.check(driver_.event_wait(end), "finish work on the GPU"));
  float milliseconds = 0;
  ASSAY_CHECK(driver_.check(driver_.event_elapsed(&milliseconds, begin, end), "take its time"));
  return static_cast<double>(milliseconds) / 1e3;
}

}  // namespace assay::collect
