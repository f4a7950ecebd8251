// SPDX-License-Identifier: Apache-2.0
#include "answers.h"
#include "lease.h"

#include <assay/kubeapi/leader_election.h>
#include <assay/kubeapi/objects.h>

namespace assay::kubeapi {
namespace {

constexpr const char* kNeeded = "get, create and update leases.coordination.k8s.io";

}  // namespace

struct LeaderElection::Seen {
  Lease lease;
  Timestamp since;  ///< when we saw its holder's last sign
};

LeaderElection::LeaderElection(Client& client, ElectionSettings settings, const Clock& clock)
    : client_(client), settings_(std::move(settings)), clock_(clock) {}

LeaderElection::~LeaderElection() = default;

Standing LeaderElection::step(net::Stopper& stopper) {
  const auto done = try_step(stopper);
  trouble_ = done || stopper.stopped() ? "" : done.error().message;
  const bool led = seen_ && (leads() || !is_free());
  return {.leads = leads(), .leader = led ? seen_->lease.holder : "", .next = settings_.interval};
}

bool LeaderElection::leads() const {
  if (!renewed_) return false;
  // The monotonic clock stands still while a machine sleeps, and others go on.
  const Nanoseconds wall = clock_.wall() - renewed_wall_;
  return clock_.now() - *renewed_ < settings_.deadline && wall < settings_.deadline &&
         wall > -settings_.deadline;
}

Result<void> LeaderElection::release(net::Stopper& stopper) {
  if (!seen_ || !renewed_) return {};
  renewed_.reset();
  const Hold nobody{.holder = "", .duration = Milliseconds(1000), .wall = clock_.wall()};
  ASSAY_TRY(const net::Response response, send("PUT", held_lease(seen_->lease, nobody), stopper));
  seen_.reset();
  // Whoever has changed it meanwhile has it.
  if (!response.ok() && response.status != kConflict && response.status != kNotFound)
    return not_answered(client_.server(), response, kNeeded);
  return {};
}

Result<void> LeaderElection::try_step(net::Stopper& stopper) {
  if (settings_.identity.empty()) return bad_input("whoever wants to lead needs an identity");
  if (seen_ && seen_->lease.holder == settings_.identity) {
    ASSAY_TRY(const bool kept, renew(stopper));
    if (kept) return {};
  }
  ASSAY_CHECK(look(stopper));
  if (!seen_) return create(stopper);
  if (!is_free()) {
    renewed_.reset();
    return {};
  }
  ASSAY_TRY(const bool got, renew(stopper));
  if (!got) renewed_.reset();
  return {};
}

/// `seen_` is null afterwards when there is no lease yet.
Result<void> LeaderElection::look(net::Stopper& stopper) {
  ASSAY_TRY(const net::Response response, send("GET", "", stopper));
  if (response.ok()) return see(response.body);
  if (response.status != kNotFound) return not_answered(client_.server(), response, kNeeded);
  seen_.reset();
  return {};
}

Result<void> LeaderElection::create(net::Stopper& stopper) {
  const Timestamp now = clock_.now();
  const Hold ours{settings_.identity, settings_.duration, clock_.wall()};
  ASSAY_TRY(const net::Response response,
            send("POST", new_lease(settings_.name_space, settings_.name, ours), stopper));
  renewed_.reset();
  if (response.status == kConflict) return {};  // somebody was faster
  if (!response.ok()) return not_answered(client_.server(), response, kNeeded);
  ASSAY_CHECK(see(response.body));
  renewed_ = now;
  renewed_wall_ = ours.wall;
  return {};
}

/// False: it has changed since we saw it.
Result<bool> LeaderElection::renew(net::Stopper& stopper) {
  // From before the request: others count from when it arrives.
  const Timestamp now = clock_.now();
  const Hold ours{settings_.identity, settings_.duration, clock_.wall()};
  ASSAY_TRY(const net::Response response, send("PUT", held_lease(seen_->lease, ours), stopper));
  if (response.status == kConflict || response.status == kNotFound) return false;
  if (!response.ok()) return not_answered(client_.server(), response, kNeeded);
  ASSAY_CHECK(see(response.body));
  renewed_ = now;
  renewed_wall_ = ours.wall;
  return true;
}

Result<net::Response> LeaderElection::send(const char* method, const std::string& body,
                                           net::Stopper& stopper) {
  ASSAY_TRY(std::string path, object_path({.resource = leases(),
                                           .name_space = settings_.name_space,
                                           .name = settings_.name}));
  if (std::string_view(method) == "POST") path = collection_path(leases(), settings_.name_space);
  return client_.call(
      {.method = method, .path = std::move(path), .body = body, .patience = settings_.deadline / 2},
      stopper);
}

Result<void> LeaderElection::see(const std::string& text) {
  ASSAY_TRY(Lease lease, read_lease(text));
  const bool silent = seen_ && seen_->lease.holder == lease.holder &&
                      seen_->lease.renewed == lease.renewed &&
                      seen_->lease.transitions == lease.transitions;
  const Timestamp since = silent ? seen_->since : clock_.now();
  seen_ = std::make_unique<Seen>(Seen{std::move(lease), since});
  return {};
}

bool LeaderElection::is_free() const {
  const Lease& lease = seen_->lease;
  return lease.holder.empty() || lease.holder == settings_.identity ||
         clock_.now() - seen_->since >= lease.duration;
}

}  // namespace assay::kubeapi
