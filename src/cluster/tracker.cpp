// SPDX-License-Identifier: Apache-2.0
#include "tracker.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace assay::cluster {
namespace {

/// Of reports of steps, those that the pace is told from.
constexpr size_t kMostSteps = 120;
/// A GPU that is no longer told of, while others of its node are, is gone.
constexpr Nanoseconds kGpuGone = std::chrono::minutes(10);

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

void add_use(PodSeries& series, const Use& now) {
  series.cores.add(value_or_unknown(now.cores));
  series.memory.add(value_or_unknown(now.memory_bytes));
  series.read.add(value_or_unknown(now.disk_read));
  series.written.add(value_or_unknown(now.disk_written));
  series.received.add(value_or_unknown(now.received));
  series.transmitted.add(value_or_unknown(now.transmitted));
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

void add_steps(PodState& pod, const Progress& progress, Timestamp now) {
  if (progress.steps) pod.all_steps = progress.steps;
  if (!progress.step) return;
  pod.steps.push_back({seconds(now.time_since_epoch()), *progress.step});
  if (pod.steps.size() > kMostSteps) pod.steps.erase(pod.steps.begin());
}

/// Prometheus divides by the whole window also what a pod did that was there for a part of it.
void stretch_rates(Use& use, Nanoseconds age, Nanoseconds window) {
  constexpr double kMost = 8;  // clocks differ, and what has just begun tells little
  if (age <= Nanoseconds(0) || age >= window) return;
  const double factor = std::min(kMost, seconds(window) / seconds(age));
  for (const auto member :
       {&Use::cores, &Use::received, &Use::transmitted, &Use::disk_read, &Use::disk_written})
    if (use.*member) use.*member = factor * *(use.*member);
}

}  // namespace

std::optional<double> sum(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a && !b) return std::nullopt;
  return a.value_or(0) + b.value_or(0);
}

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
  window_ = reading.window;
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
    state.cores_count = node.cores_count;
    const auto use = reading.nodes.find(node.object.name);
    state.now = use == reading.nodes.end() ? Use{} : use->second;
    state.uses.add(state.now);
    state.cores.add(value_or_unknown(state.now.cores));
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

PodState& Tracker::meet(const SeenPod& pod, Timestamp now) {
  auto& state = pods_[pod.object.uid];
  if (state.object.uid.empty()) {
    const PodKey key{pod.object.name_space, pod.object.name};
    state.object = pod.object;
    state.first = now;
    auto& uid = uids_[key];
    state.is_heir = !uid.empty() || left_.contains(key);
    uid = pod.object.uid;
  }
  state.node = pod.node;
  if (pod.job) state.job = pod.job->uid;  // what made it may be gone before it
  state.job_there = pod.job.has_value();
  // Of a pod that was over when it was first seen it is only known when it began.
  if (pod.over && !state.over)
    state.over_since = state.first == now ? std::min(now, pod.started.value_or(now)) : now;
  state.over = pod.over;
  state.failed = pod.failed;
  state.last = now;
  // Not before that was first heard, where its node's clock is ahead.
  if (pod.started && !state.started) state.started = std::min(now, *pod.started);
  return state;
}

void Tracker::meet_job(const SeenPod& pod, Timestamp now) {
  auto& job = jobs_[pod.job->uid];
  if (job.object.uid.empty()) job.first = now;
  job.object = *pod.job;
  if (!pod.trial.empty()) job.trial = pod.trial;
}

void Tracker::update_pods(const Seen& seen, const Reading& reading, Timestamp now) {
  for (const auto& pod : seen.pods) {
    const PodKey key{pod.object.name_space, pod.object.name};
    auto& state = meet(pod, now);
    if (pod.job) meet_job(pod, now);
    const auto use = reading.pods.find(key);
    state.now = use == reading.pods.end() || pod.over ? Use{} : use->second;
    if (state.started && !state.is_heir)
      stretch_rates(state.now, now - *state.started, reading.window);
    if (pod.host_network) state.now.received = state.now.transmitted = std::nullopt;
    state.uses.add(state.now);
    if (state.now.memory_limit) state.memory_limit = state.now.memory_limit;
    add_use(state.series, state.now);
    const auto progress = reading.progress.find(key);
    if (progress != reading.progress.end()) add_steps(state, progress->second, now);
  }
  forget_left(reading.window, now);
}

void Tracker::forget_left(Nanoseconds window, Timestamp now) {
  std::erase_if(left_, [&](const auto& left) { return now - left.second > window; });
  for (auto at = pods_.begin(); at != pods_.end();) {
    if (at->second.last == now) {
      ++at;
      continue;
    }
    const auto& object = at->second.object;
    left_[{object.name_space, object.name}] = now;
    if (const auto key = uids_.find({object.name_space, object.name});
        key != uids_.end() && key->second == object.uid)
      uids_.erase(key);
    if (at->second.job.empty()) gone_.push_back(record_of(at->second));
    at = pods_.erase(at);
  }
}

void Tracker::update_pod_gpus(const Reading& reading) {
  gpus_told_ = !reading.gpus.empty();
  users_told_ = std::any_of(reading.gpus.begin(), reading.gpus.end(),
                            [](const GpuUse& gpu) { return gpu.pod.has_value(); });
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

bool Tracker::gpus_known(const PodState& pod, Timestamp now) const {
  if (!gpus_told_) return false;
  if (pod.node.empty()) return true;
  const auto node = nodes_.find(pod.node);
  if (node == nodes_.end()) return false;
  const auto& gpus = node->second.gpus;
  if (gpus.empty()) return node->second.gpu_count == 0;
  return users_told_ && std::any_of(gpus.begin(), gpus.end(),
                                    [&](const auto& gpu) { return gpu.second.seen == now; });
}

std::vector<PodRecord> Tracker::take_gone() {
  return std::exchange(gone_, {});
}

}  // namespace assay::cluster
