// SPDX-License-Identifier: Apache-2.0
#include "pod_kind.h"
#include "tracker.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace assay::cluster {
namespace {

/// Steps that were reported longer ago say nothing of when a job will be done.
constexpr int kStepsAge = 5;  // rounds
/// With fewer known rounds, what was found before a restart is not taken back.
constexpr size_t kRoundsToTell = 20;

}  // namespace

void Tracker::look(size_t turns) {
  turns = std::max<size_t>(1, turns);
  turn_ = (turn_ + 1) % turns;
  const auto is_next = [&](const std::string& name) {
    return std::hash<std::string>()(name) % turns == turn_;
  };
  for (auto& [name, node] : nodes_)
    if (is_next(name)) look_at(node);
  std::unordered_map<std::string, std::vector<const PodState*>> jobs;
  for (auto& [uid, pod] : pods_) {
    // All workers of a job in the same turn.
    if (!is_next(pod.job.empty() ? uid : pod.job)) continue;
    look_at(pod);
    if (!pod.job.empty()) jobs[pod.job].push_back(&pod);
  }
  for (const auto& [uid, workers] : jobs)
    if (const auto job = jobs_.find(uid); job != jobs_.end()) look_at(job->second, workers);
}

void Tracker::look_at(NodeState& node) const {
  const double full = std::max(node.cores_count, node.uses.cores.max());
  const auto found = pattern_of(node.cores.values(), seconds(round_), full, node.pattern);
  if (found) node.pattern = found;
}

void Tracker::look_at(PodState& pod) {
  auto& found = pod.findings;
  const double step = seconds(round_);
  const auto before = found;
  if (pod.gpus.empty()) {
    found.pattern = pattern_of(pod.series.cores.values(), step, std::max(1.0, pod.uses.cores.max()),
                               found.pattern);
  } else {
    found.pattern = pattern_of(pod.series.gpu.values(), step, 100, found.pattern);
  }
  tell_kind(pod.series, step, seconds(window_), found);
  const auto looked_at = (pod.gpus.empty() ? pod.series.cores : pod.series.gpu).values();
  const auto known = std::count_if(looked_at.begin(), looked_at.end(),
                                   [](double value) { return std::isfinite(value); });
  if (static_cast<size_t>(known) < kRoundsToTell) found.keep(before);
  found.memory_full =
      pod.memory_limit
          ? analysis::time_to_limit({0, step, pod.series.memory.values()}, *pod.memory_limit)
          : std::nullopt;
  const bool reports =
      !pod.steps.empty() && !pod.over &&
      seconds(pod.last.time_since_epoch()) - pod.steps.back().time <= kStepsAge * step;
  found.finish =
      reports && pod.all_steps ? analysis::time_to_finish(pod.steps, *pod.all_steps) : std::nullopt;
}

void Tracker::look_at(JobState& job, const std::vector<const PodState*>& workers) const {
  auto& found = job.findings;
  found.memory_full.reset();
  found.finish.reset();
  // The one that works most stands for all of them.
  const PodState* busiest = workers.front();
  const auto work = [](const PodState& pod) {
    double gpus = 0;
    for (const auto& gpu : pod.gpus) gpus += gpu.utilization.mean();
    return std::pair(gpus, pod.uses.cores.mean());
  };
  for (const auto* pod : workers) {
    if (work(*pod) > work(*busiest)) busiest = pod;
    const auto& full = pod->findings.memory_full;
    if (full && (!found.memory_full || full->seconds < found.memory_full->seconds))
      found.memory_full = full;
    const auto& finish = pod->findings.finish;
    if (finish && (!found.finish || finish->seconds > found.finish->seconds)) found.finish = finish;
  }
  found.pattern = busiest->findings.pattern;
  found.kind = busiest->findings.kind;
  found.kind_confidence = busiest->findings.kind_confidence;
  found.evidence = busiest->findings.evidence;
}

}  // namespace assay::cluster
