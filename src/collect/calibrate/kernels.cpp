// SPDX-License-Identifier: Apache-2.0
#include "calibrate/kernels.h"

#include <array>

// Functions of their own for what only some processors have; the compiler would take the least.
#if defined(__x86_64__)
#define ASSAY_WIDE512 __attribute__((target("avx512f,avx512bw,avx512vl,fma")))
#define ASSAY_WIDE512_DOT __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define ASSAY_WIDE256 __attribute__((target("avx2,fma")))
#endif
#define ASSAY_INLINE __attribute__((always_inline)) inline

namespace assay::collect {
namespace {

constexpr size_t kRow = 4096;  ///< of the dot product: in the nearest cache
/// Enough sums at once that no addition waits for the one before.
constexpr size_t kSums = 12;

template <class Number, size_t Bytes>
struct Lane {
  using Vector __attribute__((vector_size(Bytes))) = Number;
  Vector value;
};

template <class Number, size_t Bytes>
ASSAY_INLINE double fma_loop(size_t rounds) {
  using L = Lane<Number, Bytes>;
  constexpr size_t kWidth = Bytes / sizeof(Number);
  std::array<L, kSums> sums{};
  const typename L::Vector factor = typename L::Vector{} + static_cast<Number>(0.999);
  const typename L::Vector summand = typename L::Vector{} + static_cast<Number>(0.001);
  // Unlike, or one sum would do for all.
  for (size_t i = 0; i < kSums; ++i) sums[i].value += static_cast<Number>(i);
  for (size_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (size_t i = 0; i < kSums; ++i) sums[i].value = sums[i].value * factor + summand;
  }
  double sum = 0;
  for (const auto& lane : sums)
    for (size_t i = 0; i < kWidth; ++i) sum += static_cast<double>(lane.value[i]);
  return sum;
}

struct DotInput {
  alignas(64) std::array<uint8_t, kRow> left{};
  alignas(64) std::array<int8_t, kRow> right{};
};

const DotInput& dot_input() {
  static const DotInput kInput = [] {
    DotInput input;
    for (size_t i = 0; i < kRow; ++i) {
      input.left[i] = static_cast<uint8_t>(i * 7);
      input.right[i] = static_cast<int8_t>(i * 13 % 127);
    }
    return input;
  }();
  return kInput;
}

/// Unsigned by signed, as quantized layers have them, into 32 bits.
ASSAY_INLINE double dot_loop(size_t rounds) {
  const DotInput& input = dot_input();
  int64_t all = 0;
  for (size_t round = 0; round < rounds; ++round) {
    const uint8_t* left = input.left.data();
    // Or the compiler would see that every round is the same.
    asm volatile("" : "+r"(left) : : "memory");
    int32_t sum = 0;
    for (size_t i = 0; i < kRow; ++i) sum += left[i] * input.right[i];
    all += sum;
  }
  return static_cast<double>(all);
}

double plain_float32(size_t rounds) {
  return fma_loop<float, 16>(rounds);
}
double plain_float64(size_t rounds) {
  return fma_loop<double, 16>(rounds);
}
double plain_int8(size_t rounds) {
  return dot_loop(rounds);
}

struct Forms {
  double (*float32)(size_t) = plain_float32;
  double (*float64)(size_t) = plain_float64;
  double (*int8)(size_t) = plain_int8;
  size_t bytes = 16;  ///< of a vector
};

#if defined(__x86_64__)
ASSAY_WIDE256 double float32_256(size_t rounds) {
  return fma_loop<float, 32>(rounds);
}
ASSAY_WIDE256 double float64_256(size_t rounds) {
  return fma_loop<double, 32>(rounds);
}
ASSAY_WIDE256 double int8_256(size_t rounds) {
  return dot_loop(rounds);
}
ASSAY_WIDE512 double float32_512(size_t rounds) {
  return fma_loop<float, 64>(rounds);
}
ASSAY_WIDE512 double float64_512(size_t rounds) {
  return fma_loop<double, 64>(rounds);
}
ASSAY_WIDE512_DOT double int8_512(size_t rounds) {
  return dot_loop(rounds);
}

Forms find_forms() {
  Forms forms;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    forms = {float32_256, float64_256, int8_256, 32};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    forms.float32 = float32_512;
    forms.float64 = float64_512;
    forms.bytes = 64;
    if (__builtin_cpu_supports("avx512vnni")) forms.int8 = int8_512;
  }
  return forms;
}
#else
Forms find_forms() {
  return {};
}
#endif

const Forms& forms() {
  static const Forms kForms = find_forms();
  return kForms;
}

}  // namespace

double fma_float32_operations() {
  return static_cast<double>(2 * kSums * forms().bytes / sizeof(float));
}
double fma_float64_operations() {
  return static_cast<double>(2 * kSums * forms().bytes / sizeof(double));
}
double dot_int8_operations() {
  return 2.0 * kRow;
}

double fma_float32(size_t rounds) {
  return forms().float32(rounds);
}
double fma_float64(size_t rounds) {
  return forms().float64(rounds);
}
double dot_int8(size_t rounds) {
  return forms().int8(rounds);
}

void triad(std::span<float> a, std::span<const float> b, std::span<const float> c) {
  float* const __restrict__ to = a.data();
  const float* const left = b.data();
  const float* const right = c.data();
  for (size_t i = 0; i < a.size(); ++i) to[i] = left[i] + 3.0F * right[i];
}

}  // namespace assay::collect
