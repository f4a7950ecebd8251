// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "history.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <assay/cluster/profiler.h>
#include <assay/kubeapi/client.h>

namespace assay::cluster {

/// The history of a profiler, if it has one. Each replica reads back; only the one that writes
/// ends and saves anything, as others have seen less. One thread at a time; what it is given has to
/// live longer.
class HistoryKeeper {
 public:
  HistoryKeeper(const ProfilerSettings& settings, kubeapi::Client& client, const Clock& clock,
                Tell tell, net::Stopper& stopper);

  Result<void> open();
  void read_back(Tracker& tracker);
  /// In each round, whether this replica writes: one that takes over reads back first.
  void lead(Tracker& tracker, bool leads);
  /// To be asked only in a round in which the cluster was read: with an old picture, what began
  /// since would be taken for ended.
  void end_missing(Tracker& tracker, const HiddenJobs& hidden);
  /// Saves every few minutes, and with `all` at once, if this replica still leads.
  void save(Tracker& tracker, bool leads, bool all);

  /// Whether things go on where the history has them, which is to be waited for.
  bool goes_on() const { return history_ && answers_; }
  bool is_saved() const { return saved_; }

 private:
  std::function<bool()> more() const;
  void find_cluster();
  void tell_changed(std::string& last, const std::string& sentence);

  const ProfilerSettings& settings_;
  kubeapi::Client& client_;
  const Clock& clock_;
  const Tell tell_;
  net::Stopper& stopper_;
  std::unique_ptr<store::Shelf> shelf_;
  std::optional<History> history_;
  bool answers_ = true;
  bool saved_ = true;
  std::optional<bool> leads_;  ///< nothing: the first round is not over
  bool cluster_known_ = false;
  Timestamp cluster_asked_ = {};  ///< in vain
  Timestamp saved_at_;
  std::string last_, last_cluster_;
};

}  // namespace assay::cluster
