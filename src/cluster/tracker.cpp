// SPDX-License-Identifier: Apache-2.0
#include "tracker.h"

#include "pod_kind.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_set>
#include <utility>

namespace assay::cluster {
namespace {

/// Of reports of steps, those that the pace is told from.
constexpr size_t kMostSteps = 120;
/// Of a job that makes new workers all the time, those that were there last are remembered.
constexpr size_t kMostWorkers = 2000;
/// A GPU that is no longer told of, while others of its node are, is gone.
constexpr Nanoseconds kGpuGone = std::chrono::minutes(10);
/// Steps that were reported longer ago say nothing of when a job will be done.
constexpr int kStepsAge = 5;  // rounds
/// With fewer known rounds, what was found before a restart is not taken back.
constexpr size_t kRoundsToTell = 20;

std::optional<double> sum(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a && !b) return std::nullopt;
  return a.value_or(0) + b.value_or(0);
}

void add_known(Usage& usage, const std::optional<double>& value) {
  if (value) usage.add(*value);
}

std::optional<double> memory_share(const GpuUse& gpu) {
  if (!gpu.memory_used || !gpu.memory_free) return std::nullopt;
  const double all = *gpu.memory_used + *gpu.memory_free;
  return all > 0 ? std::optional(100 * *gpu.memory_used / all) : std::nullopt;
}

double value_or_unknown(const std::optional<double>& value) {
  return value.value_or(kUnknown);
}

PodGpu& gpu_of(PodState& pod, const GpuUse& use) {
  for (auto& gpu : pod.gpus)
    if (gpu.node == use.node && gpu.index == use.index) return gpu;
  pod.gpus.push_back({.node = use.node, .index = use.index});
  return pod.gpus.back();
}

void raise(double& most, const std::optional<double>& value) {
  if (value) most = std::max(most, *value);
}

void raise(std::optional<double>& most, const std::optional<double>& value) {
  if (value) most = std::max(most.value_or(0), *value);
}

void add_steps(PodState& pod, const Progress& progress, Timestamp now) {
  if (progress.steps) pod.all_steps = progress.steps;
  if (!progress.step) return;
  pod.steps.push_back({seconds(now.time_since_epoch()), *progress.step});
  if (pod.steps.size() > kMostSteps) pod.steps.erase(pod.steps.begin());
}

void forget_workers(std::map<std::string, WorkerMost>& workers) {
  while (workers.size() > kMostWorkers)
    workers.erase(std::min_element(
        workers.begin(), workers.end(),
        [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
}

/// What the workers of a job use together at this moment.
struct Together {
  Use use = {};
  double gpus = 0;
  double gpu_utilization = 0;
  double gpu_memory_share = 0;
  double gpus_with_memory = 0;  ///< of which it is known
  std::vector<const PodState*> workers = {};
};

void add(Use& all, const Use& one) {
  for (const auto member : {&Use::cores, &Use::memory_bytes, &Use::received, &Use::transmitted,
                            &Use::disk_read, &Use::disk_written})
    all.*member = sum(all.*member, one.*member);
}

}  // namespace

void Uses::add(const Use& use) {
  add_known(cores, use.cores);
  add_known(memory, use.memory_bytes);
  add_known(network, sum(use.received, use.transmitted));
  add_known(disk, sum(use.disk_read, use.disk_written));
}

std::string gpu_name(const std::string& node, const std::string& index) {
  return node + "-gpu-" + index;
}

void Tracker::update(const Seen& seen, const Reading& reading, Timestamp now) {
  update_nodes(seen, reading, now);
  update_pods(seen, reading, now);
  update_pod_gpus(reading);
  update_jobs(now);
  updated_ = now;
}

void Tracker::update_nodes(const Seen& seen, const Reading& reading, Timestamp now) {
  std::unordered_set<std::string> there;
  for (const auto& node : seen.nodes) {
    there.insert(node.object.name);
    auto& state = nodes_[node.object.name];
    if (state.object.uid != node.object.uid) state = {};  // another one of that name
    state.object = node.object;
    state.gpu_labels = node.gpu_labels;
    state.gpu_count = node.gpu_count;
    const auto use = reading.nodes.find(node.object.name);
    state.now = use == reading.nodes.end() ? Use{} : use->second;
    state.uses.add(state.now);
  }
  std::erase_if(nodes_, [&](const auto& node) { return !there.contains(node.first); });
  for (const auto& gpu : reading.gpus) {
    const auto node = nodes_.find(gpu.node);
    if (node == nodes_.end()) continue;
    auto& state = node->second.gpus[gpu.index];
    if (state.seen == now) continue;             // shared by several pods, and counted already
    if (state.now.uuid != gpu.uuid) state = {};  // another card
    state.now = gpu;
    state.seen = now;
    add_known(state.utilization, gpu.utilization);
    add_known(state.memory_share, memory_share(gpu));
  }
  for (auto& [name, node] : nodes_) {
    const bool told = std::any_of(node.gpus.begin(), node.gpus.end(),
                                  [&](const auto& gpu) { return gpu.second.seen == now; });
    if (told)
      std::erase_if(node.gpus, [&](const auto& gpu) { return now - gpu.second.seen > kGpuGone; });
  }
}

void Tracker::update_pods(const Seen& seen, const Reading& reading, Timestamp now) {
  for (const auto& pod : seen.pods) {
    auto& state = pods_[pod.object.uid];
    if (state.object.uid.empty()) {
      state.object = pod.object;
      state.first = now;
      uids_[{pod.object.name_space, pod.object.name}] = pod.object.uid;
    }
    state.node = pod.node;
    if (pod.job) state.job = pod.job->uid;  // what made it may be gone before it
    state.over = pod.over;
    state.last = now;
    if (pod.job) {
      auto& job = jobs_[pod.job->uid];
      if (job.object.uid.empty()) job.first = now;
      job.object = *pod.job;
    }
    const PodKey key{pod.object.name_space, pod.object.name};
    const auto use = reading.pods.find(key);
    state.now = use == reading.pods.end() || pod.over ? Use{} : use->second;
    if (pod.host_network) state.now.received = state.now.transmitted = std::nullopt;
    state.uses.add(state.now);
    if (state.now.memory_limit) state.memory_limit = state.now.memory_limit;
    auto& series = state.series;
    series.cores.add(value_or_unknown(state.now.cores));
    series.memory.add(value_or_unknown(state.now.memory_bytes));
    series.read.add(value_or_unknown(state.now.disk_read));
    series.written.add(value_or_unknown(state.now.disk_written));
    series.received.add(value_or_unknown(state.now.received));
    series.transmitted.add(value_or_unknown(state.now.transmitted));
    const auto progress = reading.progress.find(key);
    if (progress != reading.progress.end()) add_steps(state, progress->second, now);
  }
  for (auto at = pods_.begin(); at != pods_.end();) {
    if (at->second.last == now) {
      ++at;
      continue;
    }
    const auto& object = at->second.object;
    if (const auto key = uids_.find({object.name_space, object.name});
        key != uids_.end() && key->second == object.uid)
      uids_.erase(key);
    if (at->second.job.empty()) gone_.push_back(record_of(at->second));
    at = pods_.erase(at);
  }
}

void Tracker::update_pod_gpus(const Reading& reading) {
  gpus_told_ = !reading.gpus.empty();
  if (reading.gpus.empty()) {
    // Nobody tells of GPUs at this moment: that is not to say that they are idle.
    for (auto& [uid, pod] : pods_) {
      pod.series.gpu.add(pod.gpus.empty() ? 0 : kUnknown);
      pod.series.gpu_memory.add(pod.gpus.empty() ? 0 : kUnknown);
    }
    return;
  }
  for (auto& [uid, pod] : pods_)
    for (auto& gpu : pod.gpus) gpu.now = false;
  struct Sum {
    double utilization = 0, memory = 0, gpus = 0;
  };
  std::unordered_map<std::string, Sum> sums;
  for (const auto& use : reading.gpus) {
    if (!use.pod) continue;
    const auto uid = uids_.find(*use.pod);
    if (uid == uids_.end()) continue;
    auto& gpu = gpu_of(pods_[uid->second], use);
    gpu.now = true;
    add_known(gpu.utilization, use.utilization);
    add_known(gpu.memory_share, memory_share(use));
    raise(gpu.most_memory, use.memory_used);
    auto& sum = sums[uid->second];
    sum.utilization += use.utilization.value_or(0);
    sum.memory += use.memory_used.value_or(0);
    sum.gpus += 1;
  }
  for (auto& [uid, pod] : pods_) {
    const auto sum = sums.find(uid);
    const bool has = sum != sums.end();
    pod.series.gpu.add(has ? sum->second.utilization / sum->second.gpus : 0);
    pod.series.gpu_memory.add(has ? sum->second.memory : 0);
  }
}

void Tracker::update_jobs(Timestamp now) {
  std::unordered_map<std::string, Together> jobs;
  for (const auto& [uid, pod] : pods_) {
    if (pod.job.empty() || pod.over) continue;
    auto& together = jobs[pod.job];
    together.workers.push_back(&pod);
    add(together.use, pod.now);
    for (const auto& gpu : pod.gpus) {
      if (!gpu.now || !gpus_told_) continue;
      together.gpus += 1;
      together.gpu_utilization += gpu.utilization.last();
      if (!gpu.memory_share.count()) continue;
      together.gpus_with_memory += 1;
      together.gpu_memory_share += gpu.memory_share.last();
    }
  }
  for (auto& [uid, job] : jobs_) {
    const auto at = jobs.find(uid);
    if (at == jobs.end()) {
      // Without pods: done, or between two workers; the history may have more of it.
      if (!job.gone) job.unsaved = true;
      job.gone = true;
      continue;
    }
    job.uses.add(at->second.use);
    if (at->second.gpus > 0) {
      job.gpus.add(at->second.gpus);
      job.gpu_utilization.add(at->second.gpu_utilization / at->second.gpus);
    }
    if (at->second.gpus_with_memory > 0)
      job.gpu_memory_share.add(at->second.gpu_memory_share / at->second.gpus_with_memory);
    for (const auto* pod : at->second.workers) {
      auto& most = job.workers[pod->object.name];
      most.last = now;
      raise(most.cores, pod->now.cores);
      raise(most.memory, pod->now.memory_bytes);
      raise(most.network, sum(pod->now.received, pod->now.transmitted));
      raise(most.disk, sum(pod->now.disk_read, pod->now.disk_written));
      for (const auto& gpu : pod->gpus) {
        auto& [percent, bytes] = most.gpus[gpu_name(gpu.node, gpu.index)];
        percent = std::max(percent, gpu.utilization.max());
        bytes = std::max(bytes, gpu.most_memory);
      }
    }
    forget_workers(job.workers);
    job.last = now;
    job.gone = false;
    job.unsaved = true;
  }
}

void Tracker::look(size_t turns) {
  turn_ = (turn_ + 1) % std::max<size_t>(1, turns);
  std::unordered_map<std::string, std::vector<const PodState*>> jobs;
  for (auto& [uid, pod] : pods_) {
    // All workers of a job in the same turn.
    const auto& group = pod.job.empty() ? uid : pod.job;
    if (std::hash<std::string>()(group) % std::max<size_t>(1, turns) != turn_) continue;
    look_at(pod);
    if (!pod.job.empty()) jobs[pod.job].push_back(&pod);
  }
  for (const auto& [uid, workers] : jobs)
    if (const auto job = jobs_.find(uid); job != jobs_.end()) look_at(job->second, workers);
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
  tell_kind(pod.series, step, found);
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

void Tracker::forget_gone(Timestamp before) {
  std::erase_if(jobs_, [&](const auto& job) {
    return job.second.gone && !job.second.unsaved && job.second.last < before;
  });
}

std::vector<PodRecord> Tracker::take_gone() {
  return std::exchange(gone_, {});
}

}  // namespace assay::cluster
