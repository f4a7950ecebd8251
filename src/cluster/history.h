// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "roots.h"
#include "tracker.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <assay/store/shelf.h>

namespace assay::cluster {

inline constexpr const char* kJobKind = "cluster-job";
inline constexpr const char* kPodKind = "cluster-pod";
/// A pod of a job: while it is there. Then its job's document has what it used at most.
inline constexpr const char* kWorkerKind = "cluster-worker";
inline constexpr const char* kNodeKind = "cluster-node";
/// Behind a kind, of what was found and could not be read.
inline constexpr const char* kUnreadable = "-unreadable";

/// Keeps what jobs, pods and nodes used, also when they are long gone. One thread at a time; the
/// shelf has to live longer.
class History {
 public:
  /// Of pods and nodes that are there, each save has a part: all of them after so many.
  static constexpr size_t kTurns = 3;

  History(store::Shelf& shelf, Nanoseconds keep) : shelf_(shelf), keep_(keep) {}

  /// By what this cluster is told from others, whose jobs the history may have too.
  void set_cluster(std::string cluster) { cluster_ = std::move(cluster); }
  /// What has just appeared goes on where the history has it, as far as `more` allows; the rest is
  /// for the next time. What was not read back is not saved either: less must not take the place of
  /// more.
  Result<void> restore(Tracker& tracker, const std::function<bool()>& more);
  /// Jobs that the history has at work, and the tracker has not, ended while nobody looked: they
  /// are kept as ended, as they were last seen. Once, and again after take_over(); as far as `more`
  /// allows, the rest is for the next time, as are those that may be hidden. The tracker has to
  /// know all others that the cluster has. Jobs of other clusters are left alone, and all while it
  /// is not known which one this is.
  Result<void> end_missing(Tracker& tracker, const HiddenJobs& hidden,
                           const std::function<bool()>& more);
  /// Others kept the history until now: what they know is to be read again.
  void take_over(Tracker& tracker);
  /// Saves jobs that changed, pods that are gone, and a part of those that are there; what could
  /// not be saved is tried again. With `all` no part is left out.
  Result<void> save(Tracker& tracker, Timestamp now, bool all);

 private:
  template <class Parse>
  Result<bool> restore_one(Tracker& tracker, const char* kind, const std::string& name,
                           Parse parse);
  /// False: that cannot be told yet.
  Result<bool> end_if_missing(Tracker& tracker, const std::string& uid, const HiddenJobs& hidden);
  Result<void> save_jobs(Tracker& tracker);
  Result<void> save_pods(Tracker& tracker, bool all);
  Result<void> save_nodes(Tracker& tracker, bool all);
  Result<void> forget_old(Timestamp now);
  bool has_turn(const std::string& name, bool all) const;

  store::Shelf& shelf_;
  const Nanoseconds keep_;
  std::string cluster_;
  std::vector<PodRecord> gone_;  ///< not saved yet
  bool beside_ = false;          ///< what the history has was followed here too
  /// Jobs of the history that were not looked for in the cluster yet; nothing: all of them.
  std::optional<std::vector<std::string>> unlooked_;
  std::vector<std::string> doubtful_;  ///< of them, those that were looked for in vain
  size_t turn_ = 0;
};

}  // namespace assay::cluster
