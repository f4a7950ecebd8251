// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <assay/base/time.h>
#include <assay/kubeapi/client.h>

namespace assay::kubeapi {

struct PodChange {
  enum class Kind : uint8_t {
    all,   ///< there are these pods and no others
    set,   ///< one is new or has changed
    gone,  ///< one is gone
  };
  Kind kind = Kind::all;
  std::vector<Pod> pods;
};

struct FollowTimes {
  Milliseconds first_wait{1000};  ///< between watches, and after a failure; doubled by each more
  Milliseconds longest_wait{60'000};
};

/// Keeps somebody up to date about pods: a list first, then what changes. A watch that ends is
/// resumed; after a version that the server has forgotten, there is a new list. One thread at a
/// time; it never waits but for the server.
class PodFollower {
 public:
  /// Told in the thread that calls step().
  using OnChange = std::function<void(PodChange change)>;

  PodFollower(Access access, PodQuery query, OnChange on_change, FollowTimes times = {});

  /// A list, or a watch for as long as it lasts. Gives how long to wait before the next step.
  Milliseconds step(net::Stopper& stopper);
  /// Why the last step failed, in one sentence; empty: it did not.
  const std::string& trouble() const { return trouble_; }

 private:
  Result<void> list(net::Stopper& stopper);
  Result<void> watch(net::Stopper& stopper);

  Client client_;
  const PodQuery query_;
  const OnChange on_change_;
  const FollowTimes times_;
  Milliseconds wait_;    ///< after the next failure
  std::string version_;  ///< up to which all is known; empty: nothing is
  std::string trouble_;
};

}  // namespace assay::kubeapi
