// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace assay::collect {

/// Programs for NVIDIA's GPUs, in the text that the driver's compiler takes (PTX).

/// One whose every thread computes sums that do not wait for each other, over and over:
/// `work(address out, u32 rounds, u32 x, u32 y)` leaves 32 bits of each thread in `out`.
struct GpuKernel {
  const char* figure;
  int capability;     ///< the least that it runs on: 53 is 5.3
  double operations;  ///< of one thread in one round
  uint32_t x;         ///< what must be passed, so that no compiler knows it
  uint32_t y;
  std::string (*ptx)();
  /// Whether that is what the first threads must have computed.
  bool (*right)(std::span<const uint32_t> results, uint32_t rounds);
};
std::span<const GpuKernel> gpu_kernels();

/// `triad(address a, address b, address c, f32 factor)` is a = b + factor · c,
/// `fill(address a, u32 seed)` writes numbers from 1 to 2, and `nothing()` does nothing. One block
/// of kStreamThreads goes over kStreamBytes of each array.
std::string stream_ptx();
inline constexpr unsigned kStreamThreads = 256;
inline constexpr size_t kStreamBytes = size_t{16} * 4 * kStreamThreads;

}  // namespace assay::collect
