// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <list>
#include <string>
#include <thread>

#include <assay/base/quiet_thread.h>
#include <assay/cluster/profiler.h>
#include <assay/kubeapi/follower.h>

namespace assay::cluster {

/// Waits, but not longer than until it is stopped. False: it was.
bool wait(Nanoseconds time, const net::Stopper& stopper);

/// Threads that each keep somebody up to date about one kind of objects; ended and joined at its
/// end.
class Followings {
 public:
  Followings() = default;
  Followings(const Followings&) = delete;
  Followings& operator=(const Followings&) = delete;
  ~Followings() {
    for (auto& following : all_) following.stopper.stop();
  }

  template <class T>
  void add(const kubeapi::Access& access, kubeapi::Query query,
           std::function<void(kubeapi::Change<T>)> on_change, Tell tell) {
    auto& following = all_.emplace_back();
    following.thread =
        quiet_thread([access, query = std::move(query), on_change = std::move(on_change),
                      tell = std::move(tell), &stopper = following.stopper] {
          kubeapi::Follower<T> follower(access, query, on_change);
          std::string told;
          do {
            const auto next = follower.step(stopper);
            if (stopper.stopped()) return;
            if (!follower.trouble().empty() && follower.trouble() != told) tell(follower.trouble());
            told = follower.trouble();
            if (!wait(next, stopper)) return;
          } while (true);
        });
  }

 private:
  struct Following {
    net::Stopper stopper;
    std::jthread thread;
  };
  std::list<Following> all_;
};

}  // namespace assay::cluster
