// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <assay/kubeapi/pod_follower.h>

namespace assay::kubeapi {

PodFollower::PodFollower(Access access, PodQuery query, OnChange on_change, FollowTimes times)
    : client_(std::move(access)),
      query_(std::move(query)),
      on_change_(std::move(on_change)),
      times_(times),
      wait_(times.first_wait) {}

Milliseconds PodFollower::step(net::Stopper& stopper) {
  const bool listing = version_.empty();
  const auto done = listing ? list(stopper) : watch(stopper);
  if (stopper.stopped()) return Milliseconds(0);
  if (done) {
    trouble_.clear();
    wait_ = times_.first_wait;
    return listing ? Milliseconds(0) : wait_;
  }
  trouble_ = done.error().message;
  // What was no network's fault may be the fault of what we know.
  if (!done.error().temporary) version_.clear();
  const Milliseconds wait = wait_;
  wait_ = std::min(wait_ * 2, times_.longest_wait);
  return wait;
}

Result<void> PodFollower::list(net::Stopper& stopper) {
  ASSAY_TRY(PodList list, client_.list(query_, stopper));
  version_ = std::move(list.version);
  on_change_({PodChange::Kind::all, std::move(list.pods)});
  return {};
}

Result<void> PodFollower::watch(net::Stopper& stopper) {
  const auto take = [this](const WatchEvent& event) {
    version_ = event.version;
    if (event.kind == WatchEvent::Kind::set) on_change_({PodChange::Kind::set, {event.pod}});
    if (event.kind == WatchEvent::Kind::gone) on_change_({PodChange::Kind::gone, {event.pod}});
  };
  // A copy: what is taken changes the member.
  const std::string from = version_;
  ASSAY_TRY(const WatchEnd end, client_.watch(query_, from, take, stopper));
  if (end == WatchEnd::expired) version_.clear();
  return {};
}

}  // namespace assay::kubeapi
