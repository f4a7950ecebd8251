// SPDX-License-Identifier: Apache-2.0
#include "testing/allocations.h"

#include <cstdlib>
#include <new>

namespace {
thread_local size_t count = 0;
}

void* operator new(size_t size) {
  ++count;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t& /*tag*/) noexcept {
  ++count;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t /*size*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept {
  std::free(memory);
}

namespace assay::promapi::testing {

size_t allocations() {
  return count;
}

}  // namespace assay::promapi::testing
