// SPDX-License-Identifier: Apache-2.0
#include "history_keeper.h"

#include <chrono>
#include <utility>

#include <assay/kubeapi/writes.h>

namespace assay::cluster {
namespace {

constexpr Nanoseconds kClusterAge = std::chrono::minutes(5);
constexpr Nanoseconds kSaveEvery = std::chrono::minutes(5);
/// Of a round: for reading back what was used before, and again for what ended meanwhile.
constexpr int kPart = 10;

/// There as long as a cluster is, and nowhere else with that uid.
const kubeapi::ObjectName kSystem = {
    {.plural = "namespaces", .kind = "Namespace", .namespaced = false}, "", "kube-system", ""};

Result<std::unique_ptr<store::Shelf>> open_shelf(const std::string& where) {
  return store::is_postgres(where) ? store::Shelf::open(where) : store::Shelf::open_sqlite(where);
}

}  // namespace

HistoryKeeper::HistoryKeeper(const ProfilerSettings& settings, kubeapi::Client& client,
                             const Clock& clock, Tell tell, net::Stopper& stopper)
    : settings_(settings),
      client_(client),
      clock_(clock),
      tell_(std::move(tell)),
      stopper_(stopper),
      saved_at_(clock.now()) {}

Result<void> HistoryKeeper::open() {
  if (settings_.history.empty()) return {};
  ASSAY_TRY(shelf_, open_shelf(settings_.history));
  history_.emplace(*shelf_, settings_.keep);
  return {};
}

std::function<bool()> HistoryKeeper::more() const {
  return [this, end = clock_.now() + settings_.interval / kPart] { return clock_.now() < end; };
}

void HistoryKeeper::read_back(Tracker& tracker) {
  if (!history_) return;
  const auto restored = history_->restore(tracker, more());
  answers_ = restored.has_value();
  if (!restored) tell_changed(last_, restored.error().message);
}

void HistoryKeeper::lead(Tracker& tracker, bool leads) {
  if (history_ && leads && leads_ && !*leads_) history_->take_over(tracker);
  leads_ = leads;
}

/// The address of an API server can be that of many: in all pods, or on every laptop.
void HistoryKeeper::find_cluster() {
  if (cluster_known_ || clock_.now() - cluster_asked_ < kClusterAge) return;
  const auto found = kubeapi::get_meta(client_, kSystem, stopper_);
  if (found && *found && !(*found)->uid.empty()) {
    history_->set_cluster((*found)->uid);
    cluster_known_ = true;
    return;
  }
  if (!found && found.error().temporary) return;
  cluster_asked_ = clock_.now();
  tell_changed(last_cluster_,
               "jobs that ended while nobody looked are not kept as ended, as clusters cannot be "
               "told apart: " +
                   (found ? "there is no namespace kube-system" : found.error().message));
}

void HistoryKeeper::end_missing(Tracker& tracker, const HiddenJobs& hidden) {
  if (!history_ || !leads_.value_or(false)) return;
  find_cluster();
  if (stopper_.stopped()) return;
  const auto ended = history_->end_missing(tracker, hidden, more());
  if (!ended) tell_changed(last_, ended.error().message);
}

void HistoryKeeper::save(Tracker& tracker, bool leads, bool all) {
  const auto now = clock_.now();
  if (!all && now - saved_at_ < kSaveEvery) return;
  // Who leads only since this round has not read back yet what others know.
  if (!history_ || !leads || !leads_.value_or(false)) {
    (void)tracker.take_gone();
    for (auto& [uid, job] : tracker.jobs()) job.unsaved = false;
    saved_at_ = now;
    return;
  }
  const auto saved = history_->save(tracker, now, all);
  saved_ = saved.has_value();
  if (!saved) {
    tell_changed(last_, saved.error().message);
    return;
  }
  last_.clear();
  saved_at_ = now;
}

void HistoryKeeper::tell_changed(std::string& last, const std::string& sentence) {
  if (last != sentence && !stopper_.stopped()) tell_(sentence);
  last = sentence;
}

}  // namespace assay::cluster
