// SPDX-License-Identifier: Apache-2.0
#include "lead.h"

#include "follow.h"

#include <string>

#include <assay/base/quiet_thread.h>
#include <assay/kubeapi/leader_election.h>

namespace assay::cluster {

Lead::Lead(const ProfilerSettings& settings, const Clock& clock, const Tell& tell)
    : alone_(settings.lease_namespace.empty()) {
  if (alone_) return;
  thread_ = quiet_thread([this, &settings, &clock, tell] { follow(settings, clock, tell); });
}

void Lead::follow(const ProfilerSettings& settings, const Clock& clock, const Tell& tell) {
  kubeapi::Client client(settings.cluster);
  kubeapi::LeaderElection election(client,
                                   {.name_space = settings.lease_namespace,
                                    .name = "assay-profiler",
                                    .identity = settings.identity,
                                    .interval = Milliseconds(5000)},
                                   clock);
  std::string told;
  while (!stopper_.stopped()) {
    const auto standing = election.step(stopper_);
    leads_ = standing.leads;
    another_leads_ = !standing.leader.empty() && standing.leader != settings.identity;
    if (!election.trouble().empty() && election.trouble() != told) tell(election.trouble());
    told = election.trouble();
    // A leader that cannot renew must know it in time.
    for (Milliseconds waited{}; waited < standing.next && !stopper_.stopped();
         waited += Milliseconds(200)) {
      wait(Milliseconds(200), stopper_);
      leads_ = election.leads();
    }
  }
  leads_ = false;
  net::Stopper last;
  (void)election.release(last);
}

}  // namespace assay::cluster
