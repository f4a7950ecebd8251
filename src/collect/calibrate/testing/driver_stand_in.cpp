// SPDX-License-Identifier: Apache-2.0
// Stands in for NVIDIA's driver library where a test wants its failures, which no driver has on
// demand. It computes nothing: no figure may ever come from it. ASSAY_STAND_IN says how it fails.
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kFull = 2;
constexpr int kTaken = 46;
constexpr int kNoGpu = 100;
constexpr int kBadProgram = 218;

bool is(const char* failure) {
  const char* const chosen = std::getenv("ASSAY_STAND_IN");
  return chosen != nullptr && std::strcmp(chosen, failure) == 0;
}

int make(void** handle) {
  *handle = handle;
  return 0;
}

}  // namespace

// The driver's names, not ours. NOLINTBEGIN(readability-identifier-naming)
extern "C" {
int cuInit(unsigned /*flags*/) {
  return is("no GPU") ? kNoGpu : 0;
}
int cuGetErrorString(int result, const char** text) {
  *text = "a failure on demand";
  return result == kBadProgram ? 1 : 0;
}
int cuDeviceGetCount(int* count) {
  *count = 2;
  return 0;
}
int cuDeviceGet(int* device, int /*ordinal*/) {
  *device = 0;
  return 0;
}
int cuDeviceGetName(char* name, int size, int /*device*/) {
  std::strncpy(name, "Stand-in", static_cast<size_t>(size));
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int /*device*/) {
  constexpr int kMinor = 76;
  *value = attribute == kMinor ? 2 : 6;
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int /*device*/) {
  *bytes = size_t{4} << 30U;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int /*device*/) {
  return is("taken") ? kTaken : make(context);
}
int cuDevicePrimaryCtxRelease(int /*device*/) {
  return 0;
}
int cuCtxSetCurrent(void* /*context*/) {
  return 0;
}
int cuCtxSynchronize() {
  return 0;
}
int cuMemGetInfo_v2(size_t* free, size_t* total) {
  *total = size_t{4} << 30U;
  *free = is("full") ? 0 : *total;
  return 0;
}
int cuMemAlloc_v2(uint64_t* place, size_t /*bytes*/) {
  *place = 4096;
  return is("full") ? kFull : 0;
}
int cuMemFree_v2(uint64_t /*place*/) {
  return 0;
}
int cuMemsetD8_v2(uint64_t /*place*/, unsigned char /*value*/, size_t /*bytes*/) {
  return 0;
}
int cuMemHostAlloc(void** place, size_t bytes, unsigned /*flags*/) {
  *place = std::malloc(bytes);
  return 0;
}
int cuMemFreeHost(void* place) {
  std::free(place);
  return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t /*to*/, const void* /*from*/, size_t /*bytes*/,
                         void* /*stream*/) {
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* /*to*/, uint64_t /*from*/, size_t /*bytes*/, void* /*stream*/) {
  return 0;
}
int cuModuleLoadDataEx(void** module, const void* /*text*/, unsigned /*count*/, int* /*options*/,
                       void** /*values*/) {
  return is("no compiler") ? kBadProgram : make(module);
}
int cuModuleUnload(void* /*module*/) {
  return 0;
}
int cuModuleGetFunction(void** function, void* /*module*/, const char* /*name*/) {
  return make(function);
}
int cuLaunchKernel(void* /*function*/, unsigned /*gx*/, unsigned /*gy*/, unsigned /*gz*/,
                   unsigned /*bx*/, unsigned /*by*/, unsigned /*bz*/, unsigned /*shared*/,
                   void* /*stream*/, void** /*arguments*/, void** /*extra*/) {
  return 0;
}
int cuEventCreate(void** event, unsigned /*flags*/) {
  return make(event);
}
int cuEventDestroy_v2(void* /*event*/) {
  return 0;
}
int cuEventRecord(void* /*event*/, void* /*stream*/) {
  return 0;
}
int cuEventSynchronize(void* /*event*/) {
  return 0;
}
int cuEventElapsedTime(float* milliseconds, void* /*from*/, void* /*to*/) {
  *milliseconds = 5;
  return 0;
}
}
// NOLINTEND(readability-identifier-naming)
