// SPDX-License-Identifier: Apache-2.0
#include "background.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <random>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/base/wording.h>

namespace assay::collect {
namespace {

/// Short turns of work, so that also a short inference meets the mean of the load.
constexpr int kTurnMilliseconds = 2;
constexpr int kLongestSeconds = 3600;
constexpr uint64_t kMostWorkers = 4096;

uint64_t hash(uint64_t seed, const std::string& text) {
  uint64_t value = 14695981039346656037ULL ^ (seed * 1099511628211ULL);
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return value;
}

std::vector<std::string> stress_command(const Background& background) {
  return {"stress-ng",
          "--cpu",
          std::to_string(background.workers),
          "--cpu-load",
          std::to_string(background.percent),
          "--cpu-load-slice",
          std::to_string(kTurnMilliseconds),
          "--cpu-method",
          "int64",
          "--timeout",
          std::to_string(kLongestSeconds),
          "--quiet"};
}

}  // namespace

std::string Background::text() const {
  return workers == 0 ? "idle" : fmt::format("{}x{}%", workers, percent);
}

Result<std::vector<Background>> parse_backgrounds(const std::string& text) {
  std::vector<Background> backgrounds;
  std::string_view rest = text;
  while (!rest.empty() || backgrounds.empty()) {
    const std::string_view word = next_field(rest, ',');
    std::string_view share = word;
    const auto workers = parse_uint(next_field(share, 'x'));
    if (share.ends_with('%')) share.remove_suffix(1);
    const auto percent = parse_uint(share);
    const bool fits = workers && percent && *workers >= 1 && *workers <= kMostWorkers &&
                      *percent >= 1 && *percent <= 100;
    if (word != "idle" && !fits)
      return bad_input(
          fmt::format("{} is no background: it is written as idle, or as 2x60%: two workers, each "
                      "60 % of a core",
                      in_quotes(word)));
    backgrounds.push_back(word == "idle"
                              ? Background{}
                              : Background{static_cast<int>(*workers), static_cast<int>(*percent)});
  }
  return backgrounds;
}

Background background_of(const Options& options, double cores, const std::string& model,
                         int iteration) {
  if (const auto& turns = options.backgrounds; !turns.empty())
    return turns[static_cast<size_t>(iteration) % turns.size()];
  Background background;
  if (options.load == Load::idle || iteration == 0) return background;
  std::mt19937_64 random(hash(options.seed, fmt::format("{}/{}", model, iteration)));
  constexpr uint64_t kSteps = 19;  // 10, 15, ... 100 percent
  // Workers that asked for more than the device has would all be the same load.
  const double most = std::max(1.0, std::ceil(cores));
  background.workers = static_cast<int>(1 + random() % static_cast<uint64_t>(most));
  background.percent =
      std::max(1, static_cast<int>(std::lround(static_cast<double>(10 + 5 * (random() % kSteps)) *
                                               std::min(1.0, cores / most))));
  return background;
}

Result<void> check_stress() {
  const char* path = std::getenv("PATH");
  if (is_in_path("stress-ng", path != nullptr ? path : "")) return {};
  return refused(
      "background load is made by stress-ng, which is not installed; install it (apt-get install "
      "stress-ng), or measure without load with --load idle");
}

Result<RunningBackground> RunningBackground::start(const Background& background) {
  RunningBackground running;
  if (background.workers > 0) {
    ASSAY_TRY(running.stress_, infer::Child::start(stress_command(background), {}));
  }
  return running;
}

Result<void> RunningBackground::check() {
  if (!stress_ || stress_->running()) return {};
  return refused("stress-ng ended by itself: try what it says with: stress-ng --cpu 1 -t 1");
}

}  // namespace assay::collect
