// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <assay/base/result.h>

namespace assay::collect {

/// The few functions of NVIDIA's driver library that we call, loaded when they are wanted: there is
/// no header and no toolkit of NVIDIA's in the build. Handles are as wide as pointers; a result of
/// 0 is success.
struct CudaDriver {
  using Handle = void*;
  using Address = uint64_t;  ///< in the GPU's memory

  int (*init)(unsigned flags) = nullptr;
  int (*error_string)(int result, const char** text) = nullptr;
  int (*device_count)(int* count) = nullptr;
  int (*device_get)(int* device, int ordinal) = nullptr;
  int (*device_name)(char* name, int size, int device) = nullptr;
  int (*device_attribute)(int* value, int attribute, int device) = nullptr;
  int (*device_memory)(size_t* bytes, int device) = nullptr;
  int (*context_retain)(Handle* context, int device) = nullptr;
  int (*context_release)(int device) = nullptr;
  int (*context_use)(Handle context) = nullptr;
  int (*context_wait)() = nullptr;
  int (*memory_info)(size_t* free, size_t* total) = nullptr;
  int (*memory_take)(Address* place, size_t bytes) = nullptr;
  int (*memory_give)(Address place) = nullptr;
  int (*memory_set)(Address place, unsigned char value, size_t bytes) = nullptr;
  int (*pinned_take)(void** place, size_t bytes, unsigned flags) = nullptr;
  int (*pinned_give)(void* place) = nullptr;
  int (*upload)(Address to, const void* from, size_t bytes, Handle stream) = nullptr;
  int (*download)(void* to, Address from, size_t bytes, Handle stream) = nullptr;
  int (*module_load)(Handle* module, const void* text, unsigned count, int* options,
                     void** values) = nullptr;
  int (*module_unload)(Handle module) = nullptr;
  int (*module_function)(Handle* function, Handle module, const char* name) = nullptr;
  int (*launch)(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                Handle stream, void** arguments, void** extra) = nullptr;
  int (*event_make)(Handle* event, unsigned flags) = nullptr;
  int (*event_destroy)(Handle event) = nullptr;
  int (*event_record)(Handle event, Handle stream) = nullptr;
  int (*event_wait)(Handle event) = nullptr;
  int (*event_elapsed)(float* milliseconds, Handle from, Handle to) = nullptr;

  /// `library` is "libcuda.so.1"; the driver is started. An error says what to do.
  static Result<CudaDriver> load(const char* library);
  /// An error for a result that is none of success: "cannot WHAT: WHY; HINT".
  Result<void> check(int result, const char* what) const;
};

}  // namespace assay::collect
