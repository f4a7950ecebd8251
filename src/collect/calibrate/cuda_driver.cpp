// SPDX-License-Identifier: Apache-2.0
#include "calibrate/cuda_driver.h"

#include <fmt/format.h>

#include <assay/base/late_library.h>

namespace assay::collect {
namespace {

void find_machine(LateLibrary& library, CudaDriver& driver) {
  library.find(driver.init, "cuInit")
      .find(driver.error_string, "cuGetErrorString")
      .find(driver.device_count, "cuDeviceGetCount")
      .find(driver.device_get, "cuDeviceGet")
      .find(driver.device_name, "cuDeviceGetName")
      .find(driver.device_attribute, "cuDeviceGetAttribute")
      .find(driver.device_memory, "cuDeviceTotalMem_v2")
      .find(driver.context_retain, "cuDevicePrimaryCtxRetain")
      .find(driver.context_release, "cuDevicePrimaryCtxRelease")
      .find(driver.context_use, "cuCtxSetCurrent")
      .find(driver.context_wait, "cuCtxSynchronize");
}

void find_memory(LateLibrary& library, CudaDriver& driver) {
  library.find(driver.memory_info, "cuMemGetInfo_v2")
      .find(driver.memory_take, "cuMemAlloc_v2")
      .find(driver.memory_give, "cuMemFree_v2")
      .find(driver.memory_set, "cuMemsetD8_v2")
      .find(driver.pinned_take, "cuMemHostAlloc")
      .find(driver.pinned_give, "cuMemFreeHost")
      .find(driver.upload, "cuMemcpyHtoDAsync_v2")
      .find(driver.download, "cuMemcpyDtoHAsync_v2");
}

void find_work(LateLibrary& library, CudaDriver& driver) {
  library.find(driver.module_load, "cuModuleLoadDataEx")
      .find(driver.module_unload, "cuModuleUnload")
      .find(driver.module_function, "cuModuleGetFunction")
      .find(driver.launch, "cuLaunchKernel")
      .find(driver.event_make, "cuEventCreate")
      .find(driver.event_destroy, "cuEventDestroy_v2")
      .find(driver.event_record, "cuEventRecord")
      .find(driver.event_wait, "cuEventSynchronize")
      .find(driver.event_elapsed, "cuEventElapsedTime");
}

/// What a person can do about the errors that are met in practice.
const char* hint(int result) {
  switch (result) {
    case 2:
      return "; other programs hold its memory";
    case 46:
      return "; another program has it to itself, try again when that has ended";
    case 100:
      return "; CUDA_VISIBLE_DEVICES may hide it";
    case 802:
      return "; the machine's fabric manager must run";
    case 803:
      return "; the driver was updated, restart the machine or the container";
    case 999:
      return "; see whether nvidia-smi answers, and what the kernel's log says";
    default:
      return "";
  }
}

}  // namespace

Result<CudaDriver> CudaDriver::load(const char* library) {
  LateLibrary loaded(library);
  CudaDriver driver;
  find_machine(loaded, driver);
  if (!loaded.loaded() && driver.init == nullptr)
    return refused(
        fmt::format("there is no {}, the library of NVIDIA's driver: install it (Debian: "
                    "libcuda1); a container "
                    "needs --gpus all and NVIDIA_DRIVER_CAPABILITIES=compute,utility",
                    library));
  find_memory(loaded, driver);
  find_work(loaded, driver);
  ASSAY_CHECK(loaded.loaded());
  ASSAY_CHECK(driver.check(driver.init(0), "start NVIDIA's driver"));
  return driver;
}

Result<void> CudaDriver::check(int result, const char* what) const {
  if (result == 0) return {};
  const char* text = nullptr;
  if (error_string(result, &text) != 0 || text == nullptr) text = "an error without a name";
  return refused(fmt::format("cannot {}: {} ({}){}", what, text, result, hint(result)));
}

}  // namespace assay::collect
