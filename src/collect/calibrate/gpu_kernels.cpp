// SPDX-License-Identifier: Apache-2.0
#include "calibrate/gpu_kernels.h"

#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace assay::collect {
namespace {

/// Sums of a thread: enough that none waits for itself.
constexpr int kSums = 8;
/// Steps of each sum in one round: the loop around them costs some thousandths.
constexpr int kSteps = 128;

/// What a kernel is made of; `start` and `step` are for one sum, whose number stands for {0}.
struct Parts {
  const char* version;
  const char* target;
  const char* declare;
  const char* begin;
  const char* start;
  const char* step;
  const char* finish;
  const char* end;
};

std::string for_sums(const char* text) {
  std::string all;
  for (int i = 0; i < kSums; ++i) all += fmt::format(fmt::runtime(text), i);
  return all;
}

std::string ptx_of(const Parts& parts) {
  std::string round;
  for (int i = 0; i < kSteps; ++i) round += for_sums(parts.step);
  return fmt::format(R"(.version {}
.target {}
.address_size 64
.visible .entry work(.param .u64 out, .param .u32 rounds, .param .u32 px, .param .u32 py) {{
.reg .pred more;
.reg .u32 thread, left, few, t<3>;
.reg .u64 place, offset;
.reg .f32 small, f<3>;
.reg .b32 x, y, result;
{}
ld.param.u32 left, [rounds];
ld.param.u32 x, [px];
ld.param.u32 y, [py];
mov.u32 t0, %ctaid.x;
mov.u32 t1, %ntid.x;
mov.u32 t2, %tid.x;
mad.lo.u32 thread, t0, t1, t2;
and.b32 few, thread, 63;
cvt.rn.f32.u32 small, few;
mul.f32 small, small, 0f3A800000;
{}{}again:
{}sub.u32 left, left, 1;
setp.ne.u32 more, left, 0;
@more bra again;
{}{}
ld.param.u64 place, [out];
cvta.to.global.u64 place, place;
mul.wide.u32 offset, thread, 4;
add.u64 place, place, offset;
st.global.u32 [place], result;
ret;
}}
)",
                     parts.version, parts.target, parts.declare, parts.begin, for_sums(parts.start),
                     round, for_sums(parts.finish), parts.end);
}

/// The floating point kernels turn a number a into 3 - a and back, which is exact and changes all
/// its bits: a sum begins at 1 + its number / 16 + some 1024ths, x is -1 and y is 3.
std::string float32_ptx() {
  return ptx_of({"4.2", "sm_50", ".reg .f32 sum<8>, scale, shift;",
                 "mov.b32 scale, x;\nmov.b32 shift, y;\nmov.f32 f0, 0f00000000;\n",
                 "add.f32 sum{0}, small, 0f3F800000;\nadd.f32 small, small, 0f3D800000;\n",
                 "fma.rn.f32 sum{0}, sum{0}, scale, shift;\n",
                 "fma.rn.f32 sum{0}, sum{0}, scale, shift;\nadd.f32 f0, f0, sum{0};\n",
                 "mov.b32 result, f0;"});
}

std::string float64_ptx() {
  return ptx_of({"4.2", "sm_50", ".reg .f64 sum<8>, scale, shift, all;",
                 "mov.b32 f0, x;\ncvt.f64.f32 scale, f0;\nmov.b32 f0, y;\ncvt.f64.f32 shift, f0;\n"
                 "mov.f64 all, 0d0000000000000000;\n",
                 "add.f32 f1, small, 0f3F800000;\ncvt.f64.f32 sum{0}, f1;\n"
                 "add.f32 small, small, 0f3D800000;\n",
                 "fma.rn.f64 sum{0}, sum{0}, scale, shift;\n",
                 "fma.rn.f64 sum{0}, sum{0}, scale, shift;\nadd.f64 all, all, sum{0};\n",
                 "cvt.rn.f32.f64 f0, all;\nmov.b32 result, f0;"});
}

/// Both halves of a register have the same number.
std::string float16_ptx() {
  return ptx_of({"4.2", "sm_53", ".reg .b32 sum<8>;\n.reg .b16 low, high;",
                 "mov.f32 f0, 0f00000000;\n",
                 "add.f32 f1, small, 0f3F800000;\ncvt.rn.f16.f32 low, f1;\n"
                 "mov.b32 sum{0}, {{low, low}};\nadd.f32 small, small, 0f3D800000;\n",
                 "fma.rn.f16x2 sum{0}, sum{0}, x, y;\n",
                 "fma.rn.f16x2 sum{0}, sum{0}, x, y;\nmov.b32 {{low, high}}, sum{0};\n"
                 "cvt.f32.f16 f1, low;\ncvt.f32.f16 f2, high;\nadd.f32 f1, f1, f2;\n"
                 "fma.rn.f32 f0, f1, 0f3F000000, f0;\n",
                 "mov.b32 result, f0;"});
}

constexpr uint32_t kSpreadA = 0x9E3779B1;
constexpr uint32_t kSpreadB = 0x85EBCA6B;

/// Products of four bytes each, which every thread has of its own.
std::string int8_ptx() {
  return ptx_of({"5.0", "sm_61", ".reg .b32 sum<8>, a, b;",
                 "mul.lo.u32 a, thread, 0x9E3779B1;\nxor.b32 a, a, x;\n"
                 "mul.lo.u32 b, thread, 0x85EBCA6B;\nxor.b32 b, b, y;\nmov.b32 result, 0;\n",
                 "add.u32 sum{0}, thread, {0};\n", "dp4a.s32.s32 sum{0}, a, b, sum{0};\n",
                 "add.u32 result, result, sum{0};\n", ""});
}

/// Each sum is a tile of 16 x 8 that a warp has in common, to which a product of 16 x 16 and 16 x 8
/// numbers from 1 to 2 is added; four of its numbers are this thread's.
std::string tensor_ptx() {
  return ptx_of(
      {"7.0", "sm_80", ".reg .b32 a<4>, b<2>;\n.reg .f32 p<8>, q<8>, r<8>, s<8>;",
       "mul.lo.u32 t0, thread, 0x9E3779B1;\nxor.b32 t0, t0, x;\n"
       "mul.lo.u32 t1, thread, 0x85EBCA6B;\nxor.b32 t1, t1, y;\n"
       "and.b32 a0, t0, 0x03FF03FF;\nor.b32 a0, a0, 0x3C003C00;\n"
       "shr.u32 t2, t0, 3;\nand.b32 a1, t2, 0x03FF03FF;\nor.b32 a1, a1, 0x3C003C00;\n"
       "shr.u32 t2, t0, 5;\nand.b32 a2, t2, 0x03FF03FF;\nor.b32 a2, a2, 0x3C003C00;\n"
       "shr.u32 t2, t0, 6;\nand.b32 a3, t2, 0x03FF03FF;\nor.b32 a3, a3, 0x3C003C00;\n"
       "and.b32 b0, t1, 0x03FF03FF;\nor.b32 b0, b0, 0x3C003C00;\n"
       "shr.u32 t2, t1, 5;\nand.b32 b1, t2, 0x03FF03FF;\nor.b32 b1, b1, 0x3C003C00;\n"
       "mov.f32 f0, 0f00000000;\n",
       "mov.f32 p{0}, 0f00000000;\nmov.f32 q{0}, p{0};\nmov.f32 r{0}, p{0};\nmov.f32 s{0}, p{0};\n",
       "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{p{0}, q{0}, r{0}, s{0}}}, "
       "{{a0, a1, a2, a3}}, {{b0, b1}}, {{p{0}, q{0}, r{0}, s{0}}};\n",
       "add.f32 f0, f0, p{0};\n", "mov.b32 result, f0;"});
}

bool is_near(float found, double wanted, double share) {
  return std::abs(static_cast<double>(found) - wanted) <= share * wanted;
}

bool turned(std::span<const uint32_t> results, uint32_t /*rounds*/) {
  for (size_t thread = 0; thread < results.size(); ++thread) {
    const double wanted = 14.25 - static_cast<double>(thread % 64) / 128;
    if (!is_near(std::bit_cast<float>(results[thread]), wanted, 0)) return false;
  }
  return true;
}

int32_t dot_of_bytes(uint32_t a, uint32_t b) {
  int32_t sum = 0;
  for (unsigned shift = 0; shift < 32; shift += 8)
    sum += static_cast<int8_t>(a >> shift) * static_cast<int8_t>(b >> shift);
  return sum;
}

constexpr uint32_t kBytesX = 0x5A3C7E11;
constexpr uint32_t kBytesY = 0x21C4937F;

bool summed_bytes(std::span<const uint32_t> results, uint32_t rounds) {
  for (uint32_t thread = 0; thread < results.size(); ++thread) {
    const auto dot = static_cast<uint32_t>(
        dot_of_bytes((thread * kSpreadA) ^ kBytesX, (thread * kSpreadB) ^ kBytesY));
    const uint32_t wanted = kSums * (thread + rounds * kSteps * dot) + kSums * (kSums - 1) / 2;
    if (results[thread] != wanted) return false;
  }
  return true;
}

/// One of the two numbers from 1 to 2 in float16 that some bits stand for.
double half_of(uint32_t bits, bool high) {
  return 1 + static_cast<double>((bits >> (high ? 16U : 0U)) & 0x3FFU) / 1024;
}

/// Where the tile's numbers are is the instruction's own law: a row of the left matrix is in the
/// four threads of a group, a column of the right one too.
double tile_product(uint32_t thread) {
  double sum = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t left = ((thread / 4 * 4 + i) * kSpreadA) ^ kBytesX;
    const uint32_t right = ((thread / 32 * 32 + 2 * (thread % 4) * 4 + i) * kSpreadB) ^ kBytesY;
    for (const bool high : {false, true})
      sum += half_of(left, high) * half_of(right, high) +
             half_of(left >> 5U, high) * half_of(right >> 5U, high);
  }
  return sum;
}

bool multiplied(std::span<const uint32_t> results, uint32_t rounds) {
  constexpr double kRounding = 0.01;  // sums of products are cut off, and always downwards
  for (uint32_t thread = 0; thread < results.size(); ++thread) {
    const double wanted = kSums * static_cast<double>(rounds) * kSteps * tile_product(thread);
    if (!is_near(std::bit_cast<float>(results[thread]), wanted, kRounding)) return false;
  }
  return true;
}

constexpr double kTogether = kSums * kSteps;
/// -1 and 3 in float32, and twice in float16.
constexpr uint32_t kMinusOne = 0xBF800000;
constexpr uint32_t kThree = 0x40400000;
constexpr uint32_t kMinusOnes = 0xBC00BC00;
constexpr uint32_t kThrees = 0x42004200;

constexpr std::array kKernels = {
    GpuKernel{"gpu_flops_float32", 50, 2 * kTogether, kMinusOne, kThree, float32_ptx, turned},
    GpuKernel{"gpu_flops_float64", 50, 2 * kTogether, kMinusOne, kThree, float64_ptx, turned},
    GpuKernel{"gpu_flops_float16", 53, 4 * kTogether, kMinusOnes, kThrees, float16_ptx, turned},
    GpuKernel{"gpu_flops_float16_tensor", 80, 2.0 * 16 * 8 * 16 / 32 * kTogether, kBytesX, kBytesY,
              tensor_ptx, multiplied},
    GpuKernel{"gpu_ops_int8", 61, 8 * kTogether, kBytesX, kBytesY, int8_ptx, summed_bytes},
};

constexpr const char* kStreamHead = R"(.version 4.2
.target sm_50
.address_size 64
.visible .entry nothing() {
ret;
}
)";

/// Where this thread's first 16 bytes are in an array; the others are a block's width apart.
constexpr const char* kStreamPlace = R"(mov.u32 i, %ctaid.x;
shl.b32 i, i, 10;
mov.u32 t, %tid.x;
add.u32 i, i, t;
mul.wide.u32 offset, i, 16;
)";

std::string fill_ptx() {
  std::string text = R"(.visible .entry fill(.param .u64 pa, .param .u32 seed) {
.reg .u32 i, t, n<4>;
.reg .u64 a, offset;
)";
  text += kStreamPlace;
  text +=
      "ld.param.u64 a, [pa];\ncvta.to.global.u64 a, a;\nadd.u64 a, a, offset;\n"
      "ld.param.u32 t, [seed];\nmad.lo.u32 t, i, 0x9E3779B1, t;\n";
  for (int part = 0; part < 4; ++part) {
    for (int word = 0; word < 4; ++word)
      text += fmt::format(
          "mad.lo.u32 t, t, 1664525, 1013904223;\nshr.u32 n{0}, t, 9;\n"
          "or.b32 n{0}, n{0}, 0x3F800000;\n",
          word);
    text += fmt::format("st.global.v4.u32 [a+{}], {{n0, n1, n2, n3}};\n",
                        part * 16 * static_cast<int>(kStreamThreads));
  }
  return text + "ret;\n}\n";
}

std::string triad_ptx() {
  std::string text =
      R"(.visible .entry triad(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .f32 pf) {
.reg .u32 i, t;
.reg .u64 a, b, c, offset;
.reg .f32 factor, x<16>, y<16>;
ld.param.f32 factor, [pf];
)";
  text += kStreamPlace;
  for (const char* name : {"a", "b", "c"})
    text += fmt::format(
        "ld.param.u64 {0}, [p{0}];\ncvta.to.global.u64 {0}, {0};\n"
        "add.u64 {0}, {0}, offset;\n",
        name);
  const auto four = [](const char* name, int part) {
    return fmt::format("{{{0}{1}, {0}{2}, {0}{3}, {0}{4}}}", name, 4 * part, 4 * part + 1,
                       4 * part + 2, 4 * part + 3);
  };
  const auto at = [](int part) { return part * 16 * static_cast<int>(kStreamThreads); };
  for (int part = 0; part < 4; ++part)
    text += fmt::format("ld.global.v4.f32 {}, [b+{}];\nld.global.v4.f32 {}, [c+{}];\n",
                        four("x", part), at(part), four("y", part), at(part));
  for (int i = 0; i < 16; ++i) text += fmt::format("fma.rn.f32 x{0}, y{0}, factor, x{0};\n", i);
  for (int part = 0; part < 4; ++part)
    text += fmt::format("st.global.v4.f32 [a+{}], {};\n", at(part), four("x", part));
  return text + "ret;\n}\n";
}

}  // namespace

std::span<const GpuKernel> gpu_kernels() {
  return kKernels;
}

std::string stream_ptx() {
  return kStreamHead + fill_ptx() + triad_ptx();
}

}  // namespace assay::collect
