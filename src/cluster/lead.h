// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <thread>

#include <assay/base/time.h>
#include <assay/cluster/profiler.h>

namespace assay::cluster {

/// Knows whether this replica is the one that writes; by a thread of its own. Settings and clock
/// have to live longer.
class Lead {
 public:
  Lead(const ProfilerSettings& settings, const Clock& clock, const Tell& tell);
  Lead(const Lead&) = delete;
  Lead& operator=(const Lead&) = delete;
  ~Lead() { stopper_.stop(); }

  bool leads() const { return alone_ || leads_; }
  /// As far as is known: where nobody can take the lease, nobody leads.
  bool another_leads() const { return another_leads_; }

 private:
  void follow(const ProfilerSettings& settings, const Clock& clock, const Tell& tell);

  const bool alone_;
  std::atomic<bool> leads_ = false;
  std::atomic<bool> another_leads_ = false;
  net::Stopper stopper_;
  std::jthread thread_;
};

}  // namespace assay::cluster
