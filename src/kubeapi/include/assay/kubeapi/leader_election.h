// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/kubeapi/client.h>

namespace assay::kubeapi {

struct ElectionSettings {
  std::string name_space = {};
  std::string name = "assay";     ///< of the lease that all replicas share
  std::string identity = {};      ///< of this replica: no other one may have it
  Milliseconds duration{15'000};  ///< after which a silent leader's place is free
  Milliseconds deadline{10'000};  ///< after which a leader that cannot renew gives up by itself
  Milliseconds interval{2'000};   ///< between steps
};

struct Standing {
  bool leads = false;
  std::string leader = {};  ///< as far as is known; empty: nobody
  Milliseconds next{};      ///< when the next step is due
};

/// Decides which of several replicas acts, by a Lease of the cluster. No clocks are compared: a
/// leader is dead when its lease has not changed for its duration on our own clock. One thread at a
/// time; client and clock have to live longer. Best with a client of its own: behind a long request
/// of others, a renewal comes too late.
class LeaderElection {
 public:
  LeaderElection(Client& client, ElectionSettings settings, const Clock& clock);
  ~LeaderElection();
  LeaderElection(const LeaderElection&) = delete;
  LeaderElection& operator=(const LeaderElection&) = delete;

  /// Renews the lease, or takes one that is free, by three requests at most.
  Standing step(net::Stopper& stopper);
  /// Whether we lead at this moment; to be asked before each change to the cluster. Not for certain
  /// any more after a machine's sleep or a step of its clock: the next step tells.
  bool leads() const;
  /// Gives the lead to whoever comes next. Nothing happens when we do not have it.
  Result<void> release(net::Stopper& stopper);
  /// Why the last step failed, in one sentence; empty: it did not.
  const std::string& trouble() const { return trouble_; }

 private:
  struct Seen;

  Result<void> try_step(net::Stopper& stopper);
  Result<void> look(net::Stopper& stopper);
  Result<void> create(net::Stopper& stopper);
  Result<bool> renew(net::Stopper& stopper);
  Result<net::Response> send(const char* method, const std::string& body, net::Stopper& stopper);
  Result<void> see(const std::string& text);
  bool is_free() const;

  Client& client_;
  const ElectionSettings settings_;
  const Clock& clock_;
  std::unique_ptr<Seen> seen_;             ///< the lease; null: not known
  std::optional<Timestamp> renewed_ = {};  ///< nothing: we do not lead
  Timestamp renewed_wall_ = {};
  std::string trouble_;
};

}  // namespace assay::kubeapi
