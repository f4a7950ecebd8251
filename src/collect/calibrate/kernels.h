// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// Loops that keep one part of a core busy and nothing else, each in the widest form that this
/// processor has. They give what they computed, so that no compiler leaves it away.
namespace assay::collect {

/// How many operations one round is; a multiplication with its addition is two.
double fma_float32_operations();
double fma_float64_operations();
double dot_int8_operations();

double fma_float32(size_t rounds);
double fma_float64(size_t rounds);
double dot_int8(size_t rounds);

/// a = b + 3 c: reads two and writes one.
void triad(std::span<float> a, std::span<const float> b, std::span<const float> c);

}  // namespace assay::collect
