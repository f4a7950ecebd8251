// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <assay/kubeapi/follower.h>

namespace assay::kubeapi {

template <class T>
Follower<T>::Follower(Access access, Query query, OnChange on_change, FollowTimes times)
    : client_(std::move(access)),
      query_(std::move(query)),
      on_change_(std::move(on_change)),
      times_(times),
      wait_(times.first_wait) {}

template <class T>
Milliseconds Follower<T>::step(net::Stopper& stopper) {
  const bool beginning = version_.empty();
  const auto done = beginning ? begin(stopper) : go_on(stopper);
  if (stopper.stopped()) return Milliseconds(0);
  if (!done) return failed(done.error());
  trouble_.clear();
  wait_ = times_.first_wait;
  if (absent_) return times_.longest_wait;
  return beginning && !version_.empty() ? Milliseconds(0) : wait_;
}

template <class T>
Milliseconds Follower<T>::failed(const Error& error) {
  trouble_ = error.message;
  // What was no network's fault may be the fault of what we know.
  if (!error.temporary) version_.clear();
  const Milliseconds wait = std::max(wait_, client_.retry_after());
  wait_ = std::min(wait_ * 2, times_.longest_wait);
  return wait;
}

template <class T>
void Follower<T>::be_absent() {
  // A server that has just been started does not know everything at first.
  if (!std::exchange(missed_, true) || std::exchange(absent_, true)) return;
  on_change_({Change<T>::Kind::all, {}});
}

template <class T>
Result<void> Follower<T>::begin(net::Stopper& stopper) {
  ASSAY_TRY(auto found, list<T>(client_, query_, stopper));
  if (!found) {
    be_absent();
    return {};
  }
  missed_ = absent_ = false;
  version_ = std::move(found->version);
  on_change_({Change<T>::Kind::all, std::move(found->items)});
  return {};
}

template <class T>
Result<void> Follower<T>::go_on(net::Stopper& stopper) {
  using Kind = typename WatchEvent<T>::Kind;
  const TakeEvent<T> take = [this](WatchEvent<T>& event) {
    version_ = event.version;
    if (event.kind == Kind::bookmark) return;
    Change<T> change{.kind = event.kind == Kind::set ? Change<T>::Kind::set : Change<T>::Kind::gone,
                     .items = {}};
    change.items.push_back(std::move(event.object));
    on_change_(std::move(change));
  };
  // A copy: what is taken changes the member.
  const std::string from = version_;
  ASSAY_TRY(const WatchEnd end, watch<T>(client_, query_, from, take, stopper));
  if (end != WatchEnd::ended) version_.clear();
  return {};
}

template class Follower<Pod>;
template class Follower<Node>;
template class Follower<ObjectMeta>;

}  // namespace assay::kubeapi
