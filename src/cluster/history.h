// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracker.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <assay/store/shelf.h>

namespace assay::cluster {

/// A job as it is kept, and read back.
std::string job_document(const JobState& job);
Result<JobState> parse_job(const std::string& document);
std::string pod_document(const PodState& pod);
std::string node_document(const NodeState& node);

inline constexpr const char* kJobKind = "cluster-job";
inline constexpr const char* kUnreadableKind = "cluster-job-unreadable";
inline constexpr const char* kPodKind = "cluster-pod";
inline constexpr const char* kNodeKind = "cluster-node";

/// Keeps what jobs, pods and nodes used, also when they are long gone. One thread at a time; the
/// shelf has to live longer.
class History {
 public:
  History(store::Shelf& shelf, Nanoseconds keep) : shelf_(shelf), keep_(keep) {}

  /// Jobs that have just appeared go on where the history has them. While it does not answer, they
  /// are not saved either: less must not take the place of more.
  Result<void> restore(const Seen& seen, Tracker& tracker);
  /// Others kept the history until now: what they know of our jobs is to be read again.
  void take_over();
  /// Saves jobs that changed and pods that are gone; what could not be saved is tried again. With
  /// `all` also those that are still there.
  Result<void> save(Tracker& tracker, Timestamp now, bool all);

 private:
  store::Shelf& shelf_;
  const Nanoseconds keep_;
  std::vector<PodState> gone_;   ///< not saved yet
  bool beside_ = false;          ///< the jobs of the history were followed here too
  std::set<std::string> known_;  ///< jobs by uid, of which the history was asked
};

}  // namespace assay::cluster
