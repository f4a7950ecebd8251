// SPDX-License-Identifier: Apache-2.0
#include "calibrate/gpu.h"

#include "calibrate/gpu_kernels.h"
#include "calibrate/gpu_meter.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <assay/base/files.h>
#include <assay/collect/calibrate.h>
#include <assay/collect/collect.h>
#include <gtest/gtest.h>

namespace assay::collect {
namespace {

namespace fs = std::filesystem;

constexpr Milliseconds kLong{20'000};

GpuFigures example() {
  GpuFigures found;
  found.model = "NVIDIA \"X\"";
  found.memory_bytes = 1.5e11;
  found.count = 8;
  found.figures["gpu_flops_float32"] = {6.5e13, 0.004};
  found.missing["gpu_ops_int8"] = "too old";
  return found;
}

std::string message_of(const Result<GpuFigures>& found) {
  return found ? "no error" : found.error().message;
}

Result<GpuFigures> ask(const std::string& script, Milliseconds patience = kLong) {
  return ask_for_gpu({"sh", "-c", script}, patience, [] { return true; });
}

std::string quoted(const std::string& line) {
  return "echo '" + line + "'";
}

TEST(GpuLine, is_read_back_as_it_was) {
  const auto read = read_gpu_line(gpu_line(example()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(gpu_line(read), gpu_line(example()));
  EXPECT_EQ(read->model, "NVIDIA \"X\"");
  EXPECT_EQ(read->count, 8);
  EXPECT_EQ(read->figures.at("gpu_flops_float32").spread, 0.004);
  EXPECT_EQ(message_of(read_gpu_line(gpu_line(refused("it is broken")))), "it is broken");
}

TEST(GpuLine, of_somebody_else_is_no_answer) {
  for (const char* line : {"", "[]", "{}", "nothing", R"({"error": 1})",
                           R"({"model": "x", "memory_bytes": 1, "count": 1, "figures": {"a": 1}})"})
    EXPECT_EQ(message_of(read_gpu_line(line)),
              "the process that measures it said something that is no answer")
        << line;
}

TEST(GpuProcess, answers_and_need_not_end) {
  const auto found = ask(quoted(gpu_line(example())) + "; exec sleep 1000");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->count, 8);
}

TEST(GpuProcess, that_hangs_is_given_up) {
  EXPECT_EQ(message_of(ask("exec sleep 1000", Milliseconds(50))),
            "the driver did not answer within 0.05 s; see whether nvidia-smi answers");
}

TEST(GpuProcess, that_crashes_or_ends_without_a_word_is_told) {
  EXPECT_EQ(message_of(ask("kill -SEGV $$")),
            "the process that measures it was ended by Segmentation fault; see whether nvidia-smi "
            "answers");
  EXPECT_EQ(message_of(ask("exit 3")),
            "the process that measures it ended with 3 and said nothing; see whether nvidia-smi "
            "answers");
}

TEST(GpuProcess, that_talks_without_end_is_no_answer) {
  EXPECT_EQ(message_of(ask("yes | tr -d '\\n'")),
            "the process that measures it said something that is no answer");
}

TEST(GpuProcess, that_nobody_wants_is_ended) {
  const auto found = ask_for_gpu({"sleep", "1000"}, kLong, [] { return false; });
  EXPECT_EQ(message_of(found), "interrupted");
}

TEST(GpuProcess, is_started_for_gpus_that_we_can_measure) {
  const auto measured = [](const std::string& file) {
    return message_of(measured_gpu(file, {"/nowhere/assay"}, kLong, [] { return true; }));
  };
  EXPECT_EQ(measured(""), "no GPU found");
  EXPECT_EQ(measured("/dev/kfd"), "the GPU is AMD's; only NVIDIA's can be measured");
  EXPECT_EQ(measured("/dev/nvidia0"), "cannot start /nowhere/assay: No such file or directory");
}

TEST(FindGpu, tells_the_file_of_the_first_also_where_a_container_has_another) {
  std::string name = (fs::temp_directory_path() / "assay-gpu-XXXXXX").native();
  const fs::path folder = ::mkdtemp(name.data());
  fs::create_directories(folder / "dev");
  const auto found_with = [&](const char* file) {
    EXPECT_TRUE(write_file(folder / "dev" / file, ""));
    return find_gpu(SysRoot(folder));
  };
  EXPECT_EQ(found_with("nvidiactl"), "");
  EXPECT_EQ(found_with("nvidia-uvm"), "");
  EXPECT_EQ(found_with("kfd"), "/dev/kfd");
  EXPECT_EQ(found_with("nvidia3"), "/dev/nvidia3");
  fs::remove_all(folder);
}

/// With the stand-in for the driver, which fails in this way.
Result<GpuFigures> measured_while(const char* failure) {
  ::setenv("ASSAY_STAND_IN", failure, 1);
  return measure_gpu(ASSAY_DRIVER_STAND_IN, true);
}

TEST(GpuDriver, that_is_not_there_is_told_with_what_to_do) {
  const std::string why = message_of(measure_gpu("libnothing-of-nvidia.so.1", true));
  EXPECT_EQ(why,
            "there is no libnothing-of-nvidia.so.1, the library of NVIDIA's driver: install it "
            "(Debian: libcuda1); a container needs --gpus all and "
            "NVIDIA_DRIVER_CAPABILITIES=compute,utility");
  EXPECT_NE(message_of(measure_gpu("libm.so.6", true)).find("there is no libm.so.6"),
            std::string::npos);
}

TEST(GpuDriver, that_refuses_is_told_with_what_to_do) {
  EXPECT_EQ(message_of(measured_while("no GPU")),
            "cannot start NVIDIA's driver: a failure on demand (100); CUDA_VISIBLE_DEVICES may "
            "hide it");
  EXPECT_EQ(message_of(measured_while("taken")),
            "cannot use the GPU: a failure on demand (46); another program has it to itself, try "
            "again when that has ended");
}

TEST(GpuDriver, that_cannot_compile_leaves_each_figure_missing_with_the_reason) {
  const auto found = measured_while("no compiler");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->model, "Stand-in");
  EXPECT_EQ(found->count, 2);
  EXPECT_EQ(found->memory_bytes, 4.0 * (1U << 30U));
  EXPECT_EQ(found->missing.at("gpu_flops_float32"),
            "cannot have the driver compile for this GPU: an error without a name (218)");
  EXPECT_EQ(found->missing.at("gpu_bandwidth"), found->missing.at("gpu_flops_float32"));
  EXPECT_EQ(found->missing.at("gpu_flops_float16_tensor"),
            "it takes a GPU of compute capability 8.0, and this has 6.2");
}

TEST(GpuDriver, whose_gpu_is_full_is_not_asked_for_memory) {
  const auto found = measured_while("full");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->missing.at("gpu_bandwidth"), "the GPU's memory is full");
  EXPECT_EQ(found->missing.at("gpu_upload_bytes_per_second"), "the GPU's memory is full");
  EXPECT_EQ(found->missing.at("gpu_download_bytes_per_second"), "the GPU's memory is full");
}

TEST(GpuDriver, whose_gpu_does_nothing_but_says_so_gets_no_figures) {
  const auto found = measured_while("nothing is done");
  ASSERT_TRUE(found) << found.error().message;
  for (const char* figure : {"gpu_flops_float32", "gpu_flops_float64", "gpu_flops_float16",
                             "gpu_ops_int8", "gpu_bandwidth", "gpu_download_bytes_per_second"})
    EXPECT_EQ(found->missing.at(figure), "the GPU did something else than it was told") << figure;
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

const GpuKernel& kernel_of(const std::string& figure) {
  const auto all = gpu_kernels();
  return *std::find_if(all.begin(), all.end(),
                       [&](const GpuKernel& kernel) { return kernel.figure == figure; });
}

TEST(GpuKernels, have_as_many_instructions_as_are_counted) {
  struct Known {
    const char* figure;
    const char* instruction;
    double operations;
    size_t beside;  // after the loop
  };
  for (const auto& known : {Known{"gpu_flops_float32", "fma.rn.f32", 2, 8},
                            Known{"gpu_flops_float64", "fma.rn.f64", 2, 8},
                            Known{"gpu_flops_float16", "fma.rn.f16x2", 4, 8},
                            Known{"gpu_flops_float16_tensor", "mma.sync", 128, 0},
                            Known{"gpu_ops_int8", "dp4a", 8, 0}}) {
    const auto& kernel = kernel_of(known.figure);
    const auto in_loop = static_cast<double>(count_of(kernel.ptx(), known.instruction)) -
                         static_cast<double>(known.beside);
    EXPECT_EQ(kernel.operations, known.operations * in_loop) << known.figure;
  }
}

TEST(GpuKernels, believe_no_other_results) {
  const std::vector<uint32_t> nothing(256, 0);
  const std::vector<uint32_t> unwritten(256, 0xFFFFFFFF);
  for (const auto& kernel : gpu_kernels()) {
    EXPECT_FALSE(kernel.right(nothing, 3)) << kernel.figure;
    EXPECT_FALSE(kernel.right(unwritten, 3)) << kernel.figure;
  }
}

/// What each thread's eight sums become, step by step.
TEST(GpuKernels, know_the_sums_of_bytes) {
  const auto& kernel = kernel_of("gpu_ops_int8");
  std::vector<uint32_t> results(256);
  for (uint32_t thread = 0; thread < 256; ++thread) {
    const uint32_t a = (thread * 0x9E3779B1U) ^ kernel.x;
    const uint32_t b = (thread * 0x85EBCA6BU) ^ kernel.y;
    uint32_t dot = 0;
    for (unsigned byte = 0; byte < 4; ++byte)
      dot += static_cast<uint32_t>(static_cast<int8_t>(a >> (8 * byte)) *
                                   static_cast<int8_t>(b >> (8 * byte)));
    for (uint32_t sum = 0; sum < 8; ++sum) {
      results[thread] += thread + sum;
      for (double step = 0; step < 3 * kernel.operations / 64; ++step) results[thread] += dot;
    }
  }
  EXPECT_TRUE(kernel.right(results, 3));
  EXPECT_FALSE(kernel.right(results, 4));
}

}  // namespace
}  // namespace assay::collect
