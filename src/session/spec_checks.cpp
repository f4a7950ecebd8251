// SPDX-License-Identifier: Apache-2.0
#include "spec_checks.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <assay/base/text.h>
#include <assay/launch/docker_args.h>
#include <assay/session/spec.h>

namespace assay::session {
namespace {

constexpr Nanoseconds kShortestInterval = Milliseconds(10);
constexpr Nanoseconds kLongestInterval = std::chrono::minutes(1);
constexpr int64_t kMostRepeats = 1000;
constexpr double kFewestCpus = 0.01;
constexpr double kMostCpus = 4096;
constexpr uint64_t kLeastMemory = 4U << 20U;
constexpr uint64_t kMostPids = 4U << 20U;
constexpr uint64_t kMostGpus = 1024;
constexpr std::array<std::string_view, 4> kRuntimes = {"auto", "process", "docker", "kubernetes"};
constexpr std::array<std::string_view, 5> kMetrics = {"system", "power", "stacks", "gpu-summary",
                                                      "gpu-kernels"};

bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_gpu_id(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_alpha(c) || is_digit(c) || c == '-';
  });
}

/// "0,1", or one id that is no number: "GPU-5ab0".
bool are_gpu_ids(std::string_view text) {
  if (text.ends_with(',')) return false;
  const bool several = text.find(',') != text.npos;
  bool valid = several || text.starts_with("GPU-") || text.starts_with("MIG-");
  while (valid && !text.empty()) valid = is_gpu_id(next_field(text, ','));
  return valid;
}

}  // namespace

Result<Nanoseconds> check_interval(Nanoseconds interval) {
  if (interval >= kShortestInterval && interval <= kLongestInterval) return interval;
  return bad_input(
      fmt::format("{} is out of range; choose 10ms to 1m (a bare number is in seconds)",
                  format_duration(interval)));
}

Result<int> check_repeat(int64_t repeat) {
  if (repeat >= 1 && repeat <= kMostRepeats) return static_cast<int>(repeat);
  return bad_input(fmt::format("{} is out of range; choose 1 to {}", repeat, kMostRepeats));
}

Result<double> parse_cpus(const std::string& text) {
  std::string_view number = trim(text);
  double scale = 1;
  if (!number.empty() && number.back() == 'm') {
    number.remove_suffix(1);
    scale = 1e-3;
  }
  const auto value = parse_double(number);
  if (!value) {
    return bad_input(fmt::format(
        "{} is not a number of CPU cores; write for example 2, 0.5 or 500m", in_quotes(text)));
  }
  if (*value * scale < kFewestCpus || *value * scale > kMostCpus) {
    return bad_input(fmt::format("{} cores are out of range; choose {} to {}",
                                 format_number(*value * scale), kFewestCpus, kMostCpus));
  }
  return *value * scale;
}

Result<uint64_t> parse_memory(const std::string& text) {
  const auto bytes = parse_bytes(text);
  if (!bytes) {
    return bad_input(
        fmt::format("{} is not a size; write for example 512MB or 2GiB", in_quotes(text)));
  }
  if (*bytes < kLeastMemory) {
    return bad_input(fmt::format("{} is too little to start a program; write for example 512MB",
                                 format_bytes(static_cast<double>(*bytes))));
  }
  return *bytes;
}

Result<uint64_t> parse_pids(const std::string& text) {
  const auto count = parse_uint(trim(text));
  if (count && *count >= 1 && *count <= kMostPids) return *count;
  return bad_input(
      fmt::format("{} is not a number of processes; choose 1 to {}", in_quotes(text), kMostPids));
}

Result<std::string> parse_gpus(const std::string& text) {
  const auto count = parse_uint(text);
  if (text == "all" || (count && *count >= 1 && *count <= kMostGpus) || are_gpu_ids(text))
    return text;
  return bad_input(
      fmt::format("{} is not a choice of GPUs; write all, a number as in 1, or ids as in \"0,1\"",
                  in_quotes(text)));
}

Result<double> parse_loss(const std::string& text) {
  std::string_view number = trim(text);
  const bool percent = number.ends_with('%');
  if (percent) number = trim(number.substr(0, number.size() - 1));
  const auto value = parse_double(number);
  // A bare 1 may be meant as 1 %.
  const bool valid = value && *value >= 0 && (percent ? *value <= 100 : *value < 1);
  if (valid) return percent ? *value / 100 : *value;
  return bad_input(
      fmt::format("{} is not a share of packets; write for example 1% or 0.01", in_quotes(text)));
}

Result<std::string> check_runtime(const std::string& runtime) {
  if (std::find(kRuntimes.begin(), kRuntimes.end(), runtime) == kRuntimes.end()) {
    return bad_input(
        fmt::format("unknown runtime {}{}", in_quotes(runtime), suggestion(runtime, kRuntimes)));
  }
  return runtime;
}

Result<void> check_docker_args(const std::vector<std::string>& words) {
  const auto valid = launch::check_docker_args(words);
  if (valid) return {};
  return bad_input(masked_text(valid.error().message));
}

std::string from_here(const std::string& path) {
  std::error_code error;
  if (path.find("://") != path.npos) return path;
  const auto full = std::filesystem::absolute(path, error).lexically_normal();
  return full.has_filename() ? full.string() : full.parent_path().string();
}

Result<std::vector<std::string>> check_metrics(const std::vector<std::string>& names) {
  std::vector<std::string> checked;
  for (const auto& name : names) {
    if (std::find(kMetrics.begin(), kMetrics.end(), name) == kMetrics.end()) {
      return bad_input(
          fmt::format("unknown metrics {}{}", in_quotes(name), suggestion(name, kMetrics)));
    }
    if (std::find(checked.begin(), checked.end(), name) == checked.end()) checked.push_back(name);
  }
  if (checked.empty()) {
    return bad_input(fmt::format("nothing to measure; choose of: {}", fmt::join(kMetrics, ", ")));
  }
  return checked;
}

bool in_this_version(std::string_view metrics) {
  return metrics == "system" || metrics == "power";
}

std::span<const std::string_view> metric_groups() {
  return kMetrics;
}

Result<void> check_env_name(std::string_view name) {
  const bool valid = !name.empty() && !is_digit(name[0]) &&
                     std::all_of(name.begin(), name.end(),
                                 [](char c) { return is_alpha(c) || is_digit(c) || c == '_'; });
  if (valid) return {};
  return bad_input(
      fmt::format("{} is not a variable's name; use letters, digits and _, and no digit first",
                  in_quotes(name)));
}

Result<void> check_image(std::string_view image) {
  const bool valid = !image.empty() && (is_alpha(image[0]) || is_digit(image[0])) &&
                     std::all_of(image.begin(), image.end(), [](char c) {
                       return is_alpha(c) || is_digit(c) ||
                              std::string_view("._-/:@+").find(c) != std::string_view::npos;
                     });
  if (valid) return {};
  return bad_input(
      fmt::format("{} is not an image; write namespace/name:version", in_quotes(image)));
}

Result<void> check_target(const Target& target) {
  if (target.timeout.count() > 0 && target.warmup >= target.timeout) {
    return bad_input(fmt::format(
        "the warm-up of {} leaves nothing of the timeout of {} to measure; make the warmup shorter",
        format_duration(target.warmup), format_duration(target.timeout)));
  }
  return {};
}

void merge_goals(std::vector<Goal>& goals, const std::vector<Goal>& added) {
  goals.erase(std::remove_if(goals.begin(), goals.end(),
                             [&](const Goal& old) {
                               return std::any_of(added.begin(), added.end(), [&](const Goal& g) {
                                 return g.metric == old.metric && g.statistic == old.statistic;
                               });
                             }),
              goals.end());
  goals.insert(goals.end(), added.begin(), added.end());
}

}  // namespace assay::session
