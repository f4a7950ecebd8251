// SPDX-License-Identifier: Apache-2.0
#include "tracker.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace assay::cluster {
namespace {

/// Of a job that makes new workers all the time, those that were there last are remembered.
constexpr size_t kMostWorkers = 2000;
/// So long, and a bit more, does Kubernetes wait at most before it replaces a pod that failed.
constexpr Nanoseconds kLongestBackOff = std::chrono::minutes(11);

void raise(std::optional<double>& most, const std::optional<double>& value) {
  if (value) most = std::max(most.value_or(0), *value);
}

void forget_workers(std::map<std::string, WorkerMost>& workers) {
  while (workers.size() > kMostWorkers)
    workers.erase(std::min_element(
        workers.begin(), workers.end(),
        [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
}

void add(Use& all, const Use& one) {
  for (const auto member : {&Use::cores, &Use::memory_bytes, &Use::received, &Use::transmitted,
                            &Use::disk_read, &Use::disk_written})
    all.*member = sum(all.*member, one.*member);
}

}  // namespace

/// What the workers of a job use together at this moment.
struct Tracker::Together {
  Use use = {};
  double gpus = 0;
  bool gpus_known = true;
  double gpu_utilization = 0;
  double gpus_with_utilization = 0;  ///< of which it is known
  double gpu_memory_share = 0;
  double gpus_with_memory = 0;
  std::vector<const PodState*> workers = {};
};

std::unordered_set<std::string> Tracker::retried_jobs(Timestamp now) const {
  std::unordered_map<std::string, const PodState*> last;
  for (const auto& [uid, pod] : pods_) {
    if (!pod.job_there || !pod.over) continue;
    auto& one = last[pod.job];
    const auto rank = [](const PodState& of) { return std::pair(of.over_since, of.failed); };
    if (!one || rank(pod) > rank(*one)) one = &pod;
  }
  std::unordered_set<std::string> jobs;
  for (const auto& [job, pod] : last)
    if (pod->failed && now - pod->over_since < kLongestBackOff) jobs.insert(job);
  return jobs;
}

std::unordered_map<std::string, Tracker::Together> Tracker::together(Timestamp now) const {
  std::unordered_map<std::string, Together> jobs;
  for (const auto& [uid, pod] : pods_) {
    if (pod.job.empty() || pod.over) continue;
    auto& together = jobs[pod.job];
    together.workers.push_back(&pod);
    add(together.use, pod.now);
    if (!gpus_known(pod, now)) together.gpus_known = false;
    for (const auto& gpu : pod.gpus) {
      if (!gpu.now || !gpus_told_) continue;
      together.gpus += 1;
      if (gpu.utilization.count()) {
        together.gpus_with_utilization += 1;
        together.gpu_utilization += gpu.utilization.last();
      }
      if (!gpu.memory_share.count()) continue;
      together.gpus_with_memory += 1;
      together.gpu_memory_share += gpu.memory_share.last();
    }
  }
  return jobs;
}

void Tracker::update_jobs(Timestamp now) {
  const auto at_work = together(now);
  const auto retried = retried_jobs(now);
  unsure_.clear();
  for (auto& [uid, job] : jobs_) {
    const auto at = at_work.find(uid);
    if (at != at_work.end()) {
      update_job(job, at->second, now);
      continue;
    }
    const bool gone = job.ended || !retried.contains(uid);
    if (!gone) unsure_.push_back(uid);
    // The history may have more of it.
    if (job.gone != gone) job.unsaved = true;
    job.gone = gone;
  }
}

void Tracker::update_job(JobState& job, const Together& together, Timestamp now) {
  job.uses.add(together.use);
  if (together.gpus > 0 || together.gpus_known) job.gpus.add(together.gpus);
  if (together.gpus_with_utilization > 0)
    job.gpu_utilization.add(together.gpu_utilization / together.gpus_with_utilization);
  if (together.gpus_with_memory > 0)
    job.gpu_memory_share.add(together.gpu_memory_share / together.gpus_with_memory);
  for (const auto* pod : together.workers) {
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
  job.gone = job.ended = false;
  job.unsaved = true;
}

std::vector<std::string> Tracker::unsure_jobs() const {
  auto uids = unsure_;
  std::erase_if(uids, [&](const auto& uid) { return !jobs_.contains(uid); });
  std::sort(uids.begin(), uids.end(),
            [&](const auto& a, const auto& b) { return jobs_.at(a).asked < jobs_.at(b).asked; });
  return uids;
}

void Tracker::forget_gone(Timestamp before) {
  std::erase_if(jobs_, [&](const auto& job) {
    return job.second.gone && !job.second.unsaved && job.second.last < before;
  });
}

}  // namespace assay::cluster
