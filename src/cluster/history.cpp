// SPDX-License-Identifier: Apache-2.0
#include "history.h"

#include "history_documents.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace assay::cluster {
namespace {

/// More pods than that, of an unreachable store, are not remembered.
constexpr size_t kMostGone = 20'000;
/// So many documents are in memory at once.
constexpr size_t kPiece = 500;
/// A worker that was there was saved many times within this.
constexpr Nanoseconds kKeepWorkers = std::chrono::hours(24 * 2);

/// Puts documents of a kind, many at once.
class Pieces {
 public:
  Pieces(store::Shelf& shelf, const char* kind) : shelf_(shelf), kind_(kind) {}

  Result<void> add(const std::string& name, std::string document) {
    documents_.emplace_back(name, std::move(document));
    return documents_.size() < kPiece ? Result<void>() : finish();
  }
  Result<void> finish() {
    if (documents_.empty()) return {};
    ASSAY_CHECK(shelf_.put_all(kind_, documents_));
    documents_.clear();
    return {};
  }

 private:
  store::Shelf& shelf_;
  const std::string kind_;
  std::vector<std::pair<std::string, std::string>> documents_;
};

bool has_used(const Uses& uses, const std::vector<PodGpu>& gpus) {
  return uses.cores.count() > 0 || !gpus.empty();
}

}  // namespace

void History::take_over(Tracker& tracker) {
  beside_ = true;
  unlooked_.reset();
  doubtful_.clear();
  for (auto& [uid, job] : tracker.jobs()) job.read_back = false;
  for (auto& [uid, pod] : tracker.pods()) pod.read_back = false;
  for (auto& [name, node] : tracker.nodes()) node.read_back = false;
}

/// Whether there was a document.
template <class Parse>
Result<bool> History::restore_one(Tracker& tracker, const char* kind, const std::string& name,
                                  Parse parse) {
  ASSAY_TRY(const auto document, shelf_.find(kind, name));
  if (document) {
    auto before = parse(document->json);
    if (before)
      tracker.restore(std::move(*before), beside_);
    else  // of a later version, or broken: it is not ours to throw away
      ASSAY_CHECK(shelf_.put(std::string(kind) + kUnreadable, name, document->json));
  }
  return document.has_value();
}

Result<void> History::restore(Tracker& tracker, const std::function<bool()>& more) {
  for (auto& [uid, job] : tracker.jobs()) {
    if (job.read_back) continue;
    if (!more()) return {};
    ASSAY_CHECK(restore_one(tracker, kJobKind, uid, parse_job));
    job.read_back = true;
  }
  for (auto& [name, node] : tracker.nodes()) {
    if (node.read_back) continue;
    if (!more()) return {};
    ASSAY_CHECK(restore_one(tracker, kNodeKind, name, parse_node));
    node.read_back = true;
  }
  for (auto& [uid, pod] : tracker.pods()) {
    if (pod.read_back) continue;
    if (!more()) return {};
    // Whose it is may not have been known when it was saved, or not be known yet.
    const auto [likely, other] =
        pod.job.empty() ? std::pair(kPodKind, kWorkerKind) : std::pair(kWorkerKind, kPodKind);
    ASSAY_TRY(const bool found, restore_one(tracker, likely, uid, parse_pod));
    if (!found) ASSAY_CHECK(restore_one(tracker, other, uid, parse_pod));
    pod.read_back = true;
  }
  beside_ = false;
  return {};
}

Result<bool> History::end_if_missing(Tracker& tracker, const std::string& uid,
                                     const HiddenJobs& hidden) {
  const auto known = tracker.jobs().find(uid);
  const bool is_known = known != tracker.jobs().end();
  if (is_known && !known->second.gone) return true;
  ASSAY_TRY(const auto document, shelf_.find(kJobKind, uid));
  if (!document) return true;
  auto job = parse_job(document->json);
  if (!job || job->gone) return true;
  if (is_known) {
    known->second.unsaved = true;
    return true;
  }
  if (job->cluster != cluster_) return true;
  if (hidden.may_have(job->object)) return false;
  job->gone = true;
  ASSAY_CHECK(shelf_.put(kJobKind, uid, job_document(*job)));
  return true;
}

Result<void> History::end_missing(Tracker& tracker, const HiddenJobs& hidden,
                                  const std::function<bool()>& more) {
  if (cluster_.empty()) return {};
  if (!unlooked_) {
    ASSAY_TRY(unlooked_, shelf_.names(kJobKind));
  }
  for (; !unlooked_->empty() && more(); unlooked_->pop_back()) {
    ASSAY_TRY(const bool told, end_if_missing(tracker, unlooked_->back(), hidden));
    if (!told) doubtful_.push_back(unlooked_->back());
  }
  if (unlooked_->empty()) unlooked_->swap(doubtful_);
  return {};
}

bool History::has_turn(const std::string& name, bool all) const {
  return all || std::hash<std::string>()(name) % kTurns == turn_;
}

Result<void> History::save_jobs(Tracker& tracker) {
  Pieces jobs(shelf_, kJobKind);
  for (auto& [uid, job] : tracker.jobs()) {
    if (!job.unsaved || !job.read_back) continue;
    if (!cluster_.empty()) job.cluster = cluster_;
    ASSAY_CHECK(jobs.add(uid, job_document(job)));
  }
  ASSAY_CHECK(jobs.finish());
  for (auto& [uid, job] : tracker.jobs())
    if (job.read_back) job.unsaved = false;
  return {};
}

Result<void> History::save_pods(Tracker& tracker, bool all) {
  Pieces pods(shelf_, kPodKind), workers(shelf_, kWorkerKind);
  for (const auto& pod : gone_) {
    if (!has_used(pod.uses, pod.gpus)) continue;
    if (!pod.read_back) {
      ASSAY_TRY(const auto before, shelf_.find(kPodKind, pod.object.uid));
      if (before) continue;
    }
    ASSAY_CHECK(pods.add(pod.object.uid, pod_document(pod)));
  }
  for (const auto& [uid, pod] : tracker.pods())
    if (pod.read_back && has_used(pod.uses, pod.gpus) && has_turn(uid, all))
      ASSAY_CHECK((pod.job.empty() ? pods : workers).add(uid, pod_document(record_of(pod))));
  ASSAY_CHECK(pods.finish());
  ASSAY_CHECK(workers.finish());
  gone_.clear();
  return {};
}

Result<void> History::save_nodes(Tracker& tracker, bool all) {
  Pieces nodes(shelf_, kNodeKind);
  for (const auto& [name, node] : tracker.nodes())
    if (node.read_back && has_turn(name, all)) ASSAY_CHECK(nodes.add(name, node_document(node)));
  return nodes.finish();
}

Result<void> History::forget_old(Timestamp now) {
  for (const std::string kind : {kJobKind, kPodKind, kWorkerKind, kNodeKind}) {
    const auto keep = kind == kWorkerKind ? std::min(keep_, kKeepWorkers) : keep_;
    ASSAY_CHECK(shelf_.remove_older(kind, now - keep));
    ASSAY_CHECK(shelf_.remove_older(kind + kUnreadable, now - keep_));
  }
  return {};
}

Result<void> History::save(Tracker& tracker, Timestamp now, bool all) {
  auto gone = tracker.take_gone();
  std::move(gone.begin(), gone.end(), std::back_inserter(gone_));
  if (gone_.size() > kMostGone) gone_.resize(kMostGone);
  ASSAY_CHECK(save_jobs(tracker));
  ASSAY_CHECK(save_pods(tracker, all));
  ASSAY_CHECK(save_nodes(tracker, all));
  turn_ = (turn_ + 1) % kTurns;
  return forget_old(now);
}

}  // namespace assay::cluster
