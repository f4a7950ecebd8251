// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/time.h>
#include <assay/kubeapi/client.h>
#include <assay/kubeapi/objects.h>

namespace assay::kubeapi {

/// A list with more is an error, unless the query allows it.
constexpr size_t kMostPods = 5000;

/// Which objects.
struct Query {
  Resource resource = {};
  std::string name_space = {};  ///< empty: of all
  std::string labels = {};      ///< a selector: "app=x,tier!=y"; empty: any
  std::string fields = {};      ///< a selector: "spec.nodeName=n1"; empty: any
  /// How many are asked for at once. One page is in memory as JSON, in about ten times its size.
  size_t page = 50;
  size_t most = kMostPods;
  Milliseconds watch{290'000};  ///< after which the server ends a watch
};

Query pods_of_node(const std::string& node);

/// Objects as they were at one moment, from which a watch can go on.
template <class T>
struct List {
  std::vector<T> items;
  std::string version;
};

template <class T>
struct WatchEvent {
  enum class Kind : uint8_t {
    set,       ///< the object is new or has changed
    gone,      ///< it has ended, or is no longer of those that were asked for
    bookmark,  ///< only the version has changed
    expired,   ///< the server does not know our version any more
    failed,    ///< `message` says why
  };
  Kind kind = Kind::bookmark;
  T object = {};
  std::string version = {};
  std::string message = {};
};

enum class WatchEnd : uint8_t {
  ended,
  expired,
  absent,  ///< the cluster has no such resource
};

template <class T>
using TakeEvent = std::function<void(WatchEvent<T>& event)>;

/// T is a Pod, a Node, or the ObjectMeta of any resource, for which the server sends nothing else.
/// Nothing: the cluster has no such resource. When the server forgets its pages, they begin anew.
template <class T>
Result<std::optional<List<T>>> list(Client& client, const Query& query, net::Stopper& stopper);
/// What happens after `version`, until the server or the stopper ends it. `take` is told only of
/// objects and bookmarks.
template <class T>
Result<WatchEnd> watch(Client& client, const Query& query, const std::string& version,
                       const TakeEvent<T>& take, net::Stopper& stopper);

template <class T>
struct Change {
  enum class Kind : uint8_t {
    all,   ///< there are these and no others
    set,   ///< one is new or has changed
    gone,  ///< one is gone
  };
  Kind kind = Kind::all;
  std::vector<T> items;
};

struct FollowTimes {
  Milliseconds first_wait{1000};  ///< between watches, and after a failure; doubled by each more
  Milliseconds longest_wait{60'000};  ///< also before an absent resource is looked for again
};

/// Keeps somebody up to date about objects: a list first, then what changes. A watch that ends is
/// resumed; after a version that the server has forgotten, there is a new list. One thread at a
/// time; it never waits but for the server.
template <class T>
class Follower {
 public:
  /// Told in the thread that calls step().
  using OnChange = std::function<void(Change<T> change)>;

  Follower(Access access, Query query, OnChange on_change, FollowTimes times = {});

  /// A list, or a watch for as long as it lasts. Gives how long to wait before the next step.
  Milliseconds step(net::Stopper& stopper);
  /// Why the last step failed, in one sentence; empty: it did not.
  const std::string& trouble() const { return trouble_; }
  /// The cluster has no such resource (yet): nobody installed it. That is no trouble, and told as
  /// an empty list.
  bool absent() const { return absent_; }

 private:
  Result<void> begin(net::Stopper& stopper);
  Result<void> go_on(net::Stopper& stopper);
  Milliseconds failed(const Error& error);
  void be_absent();

  Client client_;
  const Query query_;
  const OnChange on_change_;
  const FollowTimes times_;
  Milliseconds wait_;    ///< after the next failure
  std::string version_;  ///< up to which all is known; empty: nothing is
  std::string trouble_;
  bool missed_ = false;  ///< the last list did not find the resource
  bool absent_ = false;
};

extern template class Follower<Pod>;
extern template class Follower<Node>;
extern template class Follower<ObjectMeta>;

using PodChange = Change<Pod>;
using PodFollower = Follower<Pod>;
using NodeFollower = Follower<Node>;
using MetaFollower = Follower<ObjectMeta>;

}  // namespace assay::kubeapi
