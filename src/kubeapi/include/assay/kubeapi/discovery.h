// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/kubeapi/client.h>
#include <assay/kubeapi/objects.h>

namespace assay::kubeapi {

/// A kind as people and owner references name it.
struct KindName {
  std::string group = {};    ///< "kubeflow.org"; empty: of the core
  std::string version = {};  ///< empty: the one that the server prefers
  std::string kind = {};     ///< "MPIJob"
};
KindName kind_of(const Owner& owner);

/// "list", "patch".
using Verbs = std::set<std::string>;

/// What a cluster serves.
struct Offer {
  std::vector<Resource> resources = {};
  std::vector<std::string> unanswered = {};  ///< why there may be more, in sentences
};
/// All kinds of the groups that are wanted, with which all of these can be done; each once, in the
/// version that the server prefers if that has it. Not those of the core.
Result<Offer> find_resources(Client& client, const std::function<bool(const std::string&)>& wanted,
                             const Verbs& verbs, net::Stopper& stopper);

struct DiscoveryTimes {
  Milliseconds known{600'000};  ///< for how long an answer is believed
  Milliseconds absent{60'000};  ///< and that something is not installed
};

/// Finds out under which paths a cluster serves a kind. A version that is no longer served counts
/// as the one that the server prefers. One thread at a time; client and clock have to live longer.
class Discovery {
 public:
  Discovery(Client& client, const Clock& clock, DiscoveryTimes times = {});

  /// Nothing: it is not installed; asked again after a while.
  Result<std::optional<Resource>> find(const KindName& kind, net::Stopper& stopper);
  /// The object that controls another one, which is in that namespace: one step from a pod to its
  /// Job, from there to an MPIJob. Nothing: none does, or its kind is not installed.
  Result<std::optional<ObjectName>> controller(const std::vector<Owner>& owners,
                                               const std::string& name_space,
                                               net::Stopper& stopper);
  /// Asks the server for each kind anew: the caller knows that something has changed.
  void forget() { served_.clear(); }

 private:
  /// What is at a path: the resources of a version, or a group; nothing when it is not served.
  struct Served {
    std::vector<Resource> resources = {};
    std::string preferred = {};  ///< version of the group
    Timestamp asked = {};
  };
  using Read = Result<void> (*)(std::string_view text, Served& into);
  static Result<void> read_version(std::string_view text, Served& into);
  static Result<void> read_group(std::string_view text, Served& into);

  Result<std::optional<Resource>> find_in(const std::string& group, const std::string& version,
                                          const std::string& kind, net::Stopper& stopper);
  Result<Served> served(const std::string& path, Milliseconds oldest, Read read,
                        net::Stopper& stopper);

  Client& client_;
  const Clock& clock_;
  const DiscoveryTimes times_;
  std::map<std::string, Served> served_;  ///< by path
};

}  // namespace assay::kubeapi
