// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <assay/kubeapi/client.h>
#include <assay/kubeapi/discovery.h>
#include <assay/kubeapi/objects.h>
#include <assay/kubeapi/rate_limiter.h>

namespace assay::cluster {

/// Whether a group of kinds is one of Kubernetes itself, and not what an operator brought.
bool is_built_in(const std::string& group);

/// Whose an object is, by its owners and labels. The copy of a trial is nobody's, though it goes
/// with the object that was tried.
std::optional<kubeapi::Owner> parent_of(const std::vector<kubeapi::Owner>& owners,
                                        const std::map<std::string, std::string>& labels);

/// Which jobs may have pods although none of those that are known are found to be theirs. Owners
/// are of one namespace, or of none.
class HiddenJobs {
 public:
  /// Anything may be above what is there: it could not be asked, and will be.
  void add_any(const std::string& name_space) { namespaces_.insert(name_space); }
  /// Nobody tells whether it is there: its kind is not installed, or may not be seen.
  void add(const std::string& name_space, const kubeapi::KindName& kind) {
    kinds_.insert({name_space, kind.group, kind.kind});
  }
  bool may_have(const kubeapi::ObjectName& job) const;

 private:
  std::set<std::string> namespaces_;
  std::set<std::array<std::string, 3>> kinds_;  ///< namespace, group, kind
};

/// Finds the job that a pod belongs to in the end: from a pod's owner up over Jobs, ReplicaSets,
/// Deployments, StatefulSets and other pods to an MPIJob, a PyTorchJob or whatever an operator
/// brought. Without one of these, Deployments and sets are services and no jobs; daemon sets always
/// are. What stands between is told by followers; each owner of another kind costs one or two
/// requests, once. One thread at a time.
class Roots {
 public:
  struct Times {
    Milliseconds absent{60'000};  ///< before a kind that is not installed is asked for again
  };
  Roots(kubeapi::Client& client, kubeapi::RateLimiter& limiter, const Clock& clock, Times times);
  Roots(kubeapi::Client& client, kubeapi::RateLimiter& limiter, const Clock& clock)
      : Roots(client, limiter, clock, Times()) {}

  /// Whose an object is that stands between, if it is anybody's; what followers know. Nothing: they
  /// have not heard of it yet.
  using ParentOf =
      std::function<std::optional<std::optional<kubeapi::Owner>>(const kubeapi::Owner& object)>;
  /// Nothing: it belongs to no job, or that is not known yet and will be looked up.
  std::optional<kubeapi::ObjectName> find(const kubeapi::Owner& owner,
                                          const std::string& name_space, const ParentOf& parent_of);
  /// Asks for what find() did not know, as far as the rate allows. An error: some had no answer.
  Result<void> look_up(net::Stopper& stopper);
  /// What find() could not tell, of those that were asked for since forget_unused().
  HiddenJobs hidden() const;
  /// Forgets owners that nobody asked for since the last call.
  void forget_unused();

 private:
  enum class Hides : uint8_t { nothing, its_kind, anything };
  struct Known {
    kubeapi::ObjectName object = {};  ///< no resource: it is no object that can be had
    std::optional<kubeapi::Owner> parent = {};
    Timestamp asked = {};
    bool failed = false;  ///< the question, which is asked again
    Hides hides = Hides::nothing;
    kubeapi::KindName kind = {};
    std::string name_space = {};
    bool used = true;
  };
  struct Wanted {
    kubeapi::Owner owner;
    std::string name_space;
  };

  std::vector<std::string> longest_not_asked() const;
  Result<Known> ask(const std::string& uid, const Wanted& wanted, net::Stopper& stopper);

  kubeapi::Client& client_;
  kubeapi::RateLimiter& limiter_;
  const Clock& clock_;
  const Times times_;
  kubeapi::Discovery discovery_;
  std::unordered_map<std::string, Known> known_;  ///< by uid
  std::map<std::string, Wanted> wanted_;          ///< by uid
};

}  // namespace assay::cluster
