// SPDX-License-Identifier: Apache-2.0
#include "device_gpu.h"

#include <array>
#include <fmt/format.h>

#include <assay/base/text.h>

namespace assay::cli {
namespace {

std::string operations_text(double rate, std::string_view unit) {
  const bool large = rate >= 1e12;
  return fmt::format("{} {}{}", format_number(rate / (large ? 1e12 : 1e9)), large ? "T" : "G",
                     unit);
}
std::string flops_text(double rate) {
  return operations_text(rate, "FLOPS");
}
std::string ops_text(double rate) {
  return operations_text(rate, "OPS");
}
std::string bytes_text(double rate) {
  return format_bytes(rate) + "/s";
}
std::string launch_text(double seconds) {
  return format_number(seconds * 1e6) + " µs for each kernel";
}

struct Line {
  const char* figure;
  const char* name;
  std::string (*text)(double value);
};
constexpr std::array kLines = {
    Line{"gpu_flops_float32", "GPU float32", flops_text},
    Line{"gpu_flops_float64", "GPU float64", flops_text},
    Line{"gpu_flops_float16", "GPU float16", flops_text},
    Line{"gpu_flops_float16_tensor", "GPU tensor cores", flops_text},
    Line{"gpu_ops_int8", "GPU int8", ops_text},
    Line{"gpu_bandwidth", "GPU memory", bytes_text},
    Line{"gpu_upload_bytes_per_second", "GPU upload", bytes_text},
    Line{"gpu_download_bytes_per_second", "GPU download", bytes_text},
    Line{"gpu_launch_seconds", "GPU launch", launch_text},
};

std::string identity(const predict::Device& device) {
  std::string text = fmt::format("{}, {}", device.gpu_model, format_bytes(device.gpu_memory_bytes));
  if (device.gpus > 1)
    text += fmt::format("; the first of {}, which alone was measured", format_number(device.gpus));
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> gpu_lines(const collect::Calibration& found) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (found.device.gpus > 0) lines.emplace_back("GPU", identity(found.device));
  for (const auto& line : kLines) {
    const auto figure = found.device.figures.find(line.figure);
    if (figure != found.device.figures.end())
      lines.emplace_back(line.name, line.text(figure->second));
  }
  return lines;
}

std::optional<std::string> gpu_name(const std::string& figure) {
  for (const auto& line : kLines)
    if (figure == line.figure) return line.name;
  return std::nullopt;
}

}  // namespace assay::cli
