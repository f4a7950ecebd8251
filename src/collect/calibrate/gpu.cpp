// SPDX-License-Identifier: Apache-2.0
#include "calibrate/gpu.h"

#include "calibrate/gpu_meter.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/collect/calibrate.h>
#include <assay/infer/child.h>

namespace assay::collect {
namespace {

using SteadyClock = std::chrono::steady_clock;
using nlohmann::json;

constexpr const char* kAfterTrouble = "see whether nvidia-smi answers";

std::string how(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by {}", ::strsignal(WTERMSIG(status)));
  return fmt::format("ended with {} and said nothing", WEXITSTATUS(status));
}

/// An error without an answer: its end, its time's end, or ours.
Failure trouble(infer::Child& child, bool ended, Milliseconds patience) {
  constexpr Milliseconds kToDie{1000};
  const auto status = child.end(kToDie);
  if (ended && status)
    return refused(fmt::format("the process that measures it {}; {}", how(*status), kAfterTrouble));
  return refused(fmt::format("the driver did not answer within {} s; {}",
                             std::chrono::duration<double>(patience).count(), kAfterTrouble));
}

Result<std::string> line_from(infer::Child& child, int output, Milliseconds patience,
                              const std::function<bool()>& wanted) {
  constexpr int64_t kLookAgain = 100;
  constexpr size_t kLongest = 1U << 20U;
  const auto end = SteadyClock::now() + patience;
  std::string text;
  std::array<char, 4096> buffer{};
  while (text.find('\n') == text.npos && text.size() < kLongest) {
    const auto left = std::chrono::ceil<Milliseconds>(end - SteadyClock::now()).count();
    if (left <= 0) return trouble(child, false, patience);
    if (!wanted()) return refused("interrupted");
    pollfd ready{output, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(std::min(left, kLookAgain))) <= 0) continue;
    const ssize_t n = ::read(output, buffer.data(), buffer.size());
    if (n == 0) return trouble(child, true, patience);
    if (n > 0) text.append(buffer.data(), static_cast<size_t>(n));
  }
  return text.substr(0, text.find('\n'));
}

Result<GpuFigures> figures_of(const json& line) {
  GpuFigures found;
  found.model = line.at("model").get<std::string>();
  found.memory_bytes = line.at("memory_bytes").get<double>();
  found.count = line.at("count").get<double>();
  for (const auto& [name, value] : line.at("figures").items())
    found.figures[name] = {value.at("value").get<double>(), value.at("spread").get<double>()};
  found.missing = line.at("missing").get<std::map<std::string, std::string>>();
  return found;
}

}  // namespace

std::string gpu_line(const Result<GpuFigures>& found) {
  json line;
  if (found) {
    line = {{"model", found->model},
            {"memory_bytes", found->memory_bytes},
            {"count", found->count},
            {"figures", json::object()},
            {"missing", found->missing}};
    for (const auto& [name, figure] : found->figures)
      line["figures"][name] = {{"value", figure.value}, {"spread", figure.spread}};
  } else {
    line = {{"error", found.error().message}};
  }
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<GpuFigures> read_gpu_line(const std::string& line) {
  const json read = json::parse(line, nullptr, false);
  try {
    if (read.contains("error")) return refused(read.at("error").get<std::string>());
    return figures_of(read);
  } catch (const json::exception&) {
    return refused("the process that measures it said something that is no answer");
  }
}

Result<GpuFigures> ask_for_gpu(const std::vector<std::string>& command, Milliseconds patience,
                               const std::function<bool()>& wanted) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return refused_errno("cannot make a pipe", errno);
  const Fd output(ends[0]);
  Fd input(ends[1]);
  ASSAY_TRY(infer::Child child, infer::Child::start(command, {.output = input.get()}));
  input.reset();
  const auto line = line_from(child, output.get(), patience, wanted);
  constexpr Milliseconds kToDie{1000};
  child.end(kToDie);
  if (!line) return fail(line.error());
  return read_gpu_line(*line);
}

Result<GpuFigures> measured_gpu(const std::string& file, const std::vector<std::string>& command,
                                Milliseconds patience, const std::function<bool()>& wanted) {
  if (file.empty()) return refused("no GPU found");
  if (file == "/dev/kfd") return refused("the GPU is AMD's; only NVIDIA's can be measured");
  return ask_for_gpu(command, patience, wanted);
}

std::string gpu_figures_text(bool quick) {
  return gpu_line(measure_gpu("libcuda.so.1", quick));
}

}  // namespace assay::collect
