// SPDX-License-Identifier: Apache-2.0
#include "tracker.h"

#include <algorithm>
#include <utility>

namespace assay::cluster {
namespace {

/// Puts what was kept to what is known.
class Restorer {
 public:
  explicit Restorer(bool beside) : beside_(beside) {}

  /// Of a Usage, or of Uses.
  template <class T>
  void operator()(T& known, const T& before) const {
    if (beside_)
      known.reconcile(before);
    else
      known.precede(before);
  }

 private:
  const bool beside_;
};

void raise(WorkerMost& most, const WorkerMost& before) {
  most.last = std::max(most.last, before.last);
  for (const auto member :
       {&WorkerMost::cores, &WorkerMost::memory, &WorkerMost::network, &WorkerMost::disk})
    most.*member = std::max(most.*member, before.*member);  // nothing is less than any number
  for (const auto& [gpu, values] : before.gpus) {
    auto& [percent, bytes] = most.gpus[gpu];
    percent = std::max(percent, values.first);
    bytes = std::max(bytes, values.second);
  }
}

}  // namespace

void Findings::keep(const Findings& before) {
  if (!pattern) pattern = before.pattern;
  if (!kind.empty()) return;
  kind = before.kind;
  kind_confidence = before.kind_confidence;
  evidence = before.evidence;
}

void Uses::precede(const Uses& before) {
  for (const auto member : {&Uses::cores, &Uses::memory, &Uses::network, &Uses::disk})
    (this->*member).precede(before.*member);
}

void Uses::reconcile(const Uses& other) {
  for (const auto member : {&Uses::cores, &Uses::memory, &Uses::network, &Uses::disk})
    (this->*member).reconcile(other.*member);
}

PodRecord record_of(const PodState& pod) {
  return {.object = pod.object,
          .node = pod.node,
          .job = pod.job,
          .uses = pod.uses,
          .gpus = pod.gpus,
          .findings = pod.findings,
          .first = pod.first,
          .last = pod.last,
          .read_back = pod.read_back};
}

void Tracker::restore(JobState job, bool beside) {
  auto& known = jobs_[job.object.uid];
  if (known.object.uid.empty()) {
    known = std::move(job);
    return;
  }
  const Restorer restored(beside);
  known.first = std::min(known.first, job.first);
  known.last = std::max(known.last, job.last);
  restored(known.uses, job.uses);
  restored(known.gpu_utilization, job.gpu_utilization);
  restored(known.gpu_memory_share, job.gpu_memory_share);
  restored(known.gpus, job.gpus);
  known.findings.keep(job.findings);
  if (known.trial.empty()) known.trial = job.trial;
  if (known.cluster.empty()) known.cluster = job.cluster;
  for (const auto& [name, before] : job.workers) raise(known.workers[name], before);
}

void Tracker::restore(const NodeState& node, bool beside) {
  const auto at = nodes_.find(node.object.name);
  if (at == nodes_.end() || at->second.object.uid != node.object.uid) return;
  const Restorer restored(beside);
  restored(at->second.uses, node.uses);
  if (!at->second.pattern) at->second.pattern = node.pattern;
  for (const auto& [index, before] : node.gpus) {
    const auto [gpu, is_new] = at->second.gpus.try_emplace(index);
    auto& known = gpu->second;
    if (is_new) {
      // Not told of yet; when it never is, it goes as others that are no longer.
      known.now = before.now;
      known.now.node = node.object.name;
      known.now.index = index;
      known.seen = updated_;
    }
    if (known.now.uuid != before.now.uuid) continue;  // another card
    restored(known.utilization, before.utilization);
    restored(known.memory_share, before.memory_share);
  }
}

void Tracker::restore(const PodRecord& pod, bool beside) {
  const auto at = pods_.find(pod.object.uid);
  if (at == pods_.end()) return;
  const Restorer restored(beside);
  auto& known = at->second;
  known.first = std::min(known.first, pod.first);
  known.findings.keep(pod.findings);
  restored(known.uses, pod.uses);
  for (const auto& before : pod.gpus) {
    auto gpu = std::find_if(known.gpus.begin(), known.gpus.end(), [&](const PodGpu& one) {
      return one.node == before.node && one.index == before.index;
    });
    if (gpu == known.gpus.end())
      gpu = known.gpus.insert(gpu, {.node = before.node, .index = before.index});
    restored(gpu->utilization, before.utilization);
    restored(gpu->memory_share, before.memory_share);
    gpu->most_memory = std::max(gpu->most_memory, before.most_memory);
  }
}

}  // namespace assay::cluster
