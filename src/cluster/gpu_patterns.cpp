// SPDX-License-Identifier: Apache-2.0
#include "gpu_patterns.h"

#include <algorithm>
#include <map>
#include <vector>

namespace assay::cluster {
namespace {

/// Of a query, so that its address does not become too long.
constexpr size_t kMostAtOnce = 60;
constexpr Nanoseconds kDayStep = std::chrono::minutes(10);
constexpr Nanoseconds kDayLookBack = std::chrono::hours(24 * 7);
constexpr double kFull = 100;

/// A uuid that is no word would be part of a regular expression.
bool is_plain(const std::string& uuid) {
  return !uuid.empty() && std::all_of(uuid.begin(), uuid.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

}  // namespace

std::vector<std::string> GpuPatterns::next(Turn& turn, const std::vector<std::string>& uuids,
                                           Nanoseconds all_in) const {
  const auto rounds = std::max<int64_t>(1, all_in / round_);
  const size_t count =
      (uuids.size() + static_cast<size_t>(rounds) - 1) / static_cast<size_t>(rounds);
  auto at = std::upper_bound(uuids.begin(), uuids.end(), turn.after);
  std::vector<std::string> chosen;
  for (size_t i = 0; i < std::min(count, uuids.size()); ++i) {
    if (at == uuids.end()) at = uuids.begin();
    chosen.push_back(*at++);
  }
  return chosen;
}

Result<void> GpuPatterns::look(promapi::Queries& queries, const Sources& sources, Tracker& tracker,
                               Timestamp now, const std::function<bool()>& more,
                               net::Stopper* stopper) {
  if (!sources.has_gpus()) return {};
  std::multimap<std::string, GpuState*> by_uuid;
  std::vector<std::string> uuids;
  for (auto& [name, node] : tracker.nodes())
    for (auto& [index, gpu] : node.gpus)
      if (is_plain(gpu.now.uuid)) by_uuid.emplace(gpu.now.uuid, &gpu);
  for (auto at = by_uuid.begin(); at != by_uuid.end(); at = by_uuid.upper_bound(at->first))
    uuids.push_back(at->first);

  const auto each =
      [&](Turn& turn, Nanoseconds all_in, GpuQuestion question,
          const std::function<void(GpuState&, const std::vector<double>&)>& take) -> Result<void> {
    const auto chosen = next(turn, uuids, all_in);
    for (size_t begin = 0; begin < chosen.size() && more(); begin += kMostAtOnce) {
      const size_t end = std::min(begin + kMostAtOnce, chosen.size());
      question.uuids.assign(chosen.begin() + static_cast<std::ptrdiff_t>(begin),
                            chosen.begin() + static_cast<std::ptrdiff_t>(end));
      ASSAY_TRY(const auto series, read_gpu_series(queries, sources, question, stopper));
      for (const auto& [id, values] : series) {
        const auto& [uuid, part] = id;
        const auto [first, last] = by_uuid.equal_range(uuid);
        for (auto at = first; at != last; ++at)
          if (at->second->now.part == part) take(*at->second, values);
      }
      turn.after = question.uuids.back();
    }
    return {};
  };

  ASSAY_CHECK(each(patterns_, times_.patterns, {.uuids = {}, .now = now},
                   [&](GpuState& gpu, const std::vector<double>& values) {
                     auto pattern =
                         pattern_of(values, sources.gpu_step_seconds, kFull, gpu.pattern);
                     if (!pattern) return;
                     if (gpu.pattern) pattern->days = gpu.pattern->days;
                     gpu.pattern = pattern;
                   }));
  return each(days_, times_.days,
              {.uuids = {}, .now = now, .look_back = kDayLookBack, .step = kDayStep},
              [&](GpuState& gpu, const std::vector<double>& values) {
                if (gpu.pattern) gpu.pattern->days = days_of(values, seconds(kDayStep), kFull);
              });
}

}  // namespace assay::cluster
