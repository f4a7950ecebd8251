// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/kubeapi/access.h>
#include <assay/net/http_client.h>

namespace assay::kubeapi {

struct PodContainer {
  std::string name = {};
  std::string id = {};  ///< in 64 digits; empty: not started yet
  std::string image = {};

  bool operator==(const PodContainer&) const = default;
};

/// Whoever made a pod: a Job, a ReplicaSet.
struct Owner {
  std::string kind = {};
  std::string name = {};
  std::string uid = {};

  bool operator==(const Owner&) const = default;
};

/// Labels and annotations whose value is very long are left out.
struct Pod {
  std::string name = {};
  std::string name_space = {};
  std::string uid = {};
  std::string node = {};  ///< empty: none yet
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> annotations = {};
  std::vector<PodContainer> containers = {};  ///< also those that prepare the pod
  std::vector<Owner> owners = {};

  bool operator==(const Pod&) const = default;
};

/// A list with more is an error, in whatever answers it comes.
constexpr size_t kMostPods = 5000;

/// Pods as they were at one moment, from which a watch can go on.
struct PodList {
  std::vector<Pod> pods;
  std::string version;
};

struct PodQuery {
  std::string node = {};        ///< empty: of all nodes
  size_t page = 50;             ///< how many are asked for at once
  Milliseconds watch{290'000};  ///< after which the server ends a watch
};

struct WatchEvent {
  enum class Kind : uint8_t {
    set,       ///< the pod is new or has changed
    gone,      ///< the pod has ended, or is no longer of those that were asked for
    bookmark,  ///< only the version has changed
    expired,   ///< the server does not know our version any more
    failed,    ///< `message` says why
  };
  Kind kind = Kind::bookmark;
  Pod pod = {};
  std::string version = {};
  std::string message = {};
};

enum class WatchEnd : uint8_t { ended, expired };

/// Other limits for one container of a pod that runs. What is not named stays; 0 is no limit.
struct Resize {
  std::string name_space = {};
  std::string pod = {};
  std::string container = {};
  std::string container_id = {};  ///< another pod may have that name by now; empty: any will do
  std::optional<double> cores = {};
  std::optional<uint64_t> memory_bytes = {};
};

struct Resized {
  bool taken = false;        ///< by the cluster: its node carries it out a moment later
  std::string why_not = {};  ///< this cluster cannot, or not for this container
  std::string undo = {};     ///< what resize_back() takes to set the spec as it was
};

/// A pod that somebody waits for.
struct PodState {
  std::string name = {};
  std::string uid = {};
  std::string node = {};  ///< empty: none yet
  std::optional<Timestamp> created = {};
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> annotations = {};
  bool ready = false;
  bool over = false;         ///< it has ended, or will never run: `trouble` says why
  std::string trouble = {};  ///< what keeps it from running; empty: nothing is told

  bool operator==(const PodState&) const = default;
};

/// A pod by its names.
struct PodName {
  std::string name_space;
  std::string name;
};

/// Asks one API server, over one connection. One thread at a time; another one can end a call by
/// the stopper.
class Client {
 public:
  using Take = std::function<void(const WatchEvent& event)>;

  explicit Client(Access access);
  /// Asked several times a second while the server is waited for; false ends a call, unless it
  /// creates or deletes something.
  void set_wanted(std::function<bool()> wanted) { wanted_ = std::move(wanted); }

  Result<PodList> list(const PodQuery& query, net::Stopper& stopper);
  /// What happens after `version`, until the server or the stopper ends it. `take` is told only of
  /// pods and bookmarks.
  Result<WatchEnd> watch(const PodQuery& query, const std::string& version, const Take& take,
                         net::Stopper& stopper);
  /// Changes a pod in place, so that its containers go on running. An error: the cluster could, and
  /// refused or did not answer.
  Result<Resized> resize(const Resize& wanted, net::Stopper& stopper);
  Result<void> resize_back(const Resize& done, const std::string& undo, net::Stopper& stopper);

  /// `manifest` is JSON. Nothing that runs is changed: a name that is taken is an error.
  Result<void> create_pod(const std::string& name_space, const std::string& manifest,
                          net::Stopper& stopper);
  /// One that is not there is an error of kind input.
  Result<PodState> pod_state(const PodName& pod, net::Stopper& stopper);
  /// All of a namespace that have the label.
  Result<std::vector<PodState>> pod_states(const std::string& name_space, const std::string& label,
                                           net::Stopper& stopper);
  /// The last lines that its only container wrote.
  Result<std::string> pod_log(const PodName& pod, int lines, net::Stopper& stopper);
  /// Only the pod with this uid. One that is gone already is fine.
  Result<void> delete_pod(const PodName& pod, const std::string& uid, net::Stopper& stopper);
  /// POSTs JSON to a port of the pod, by way of the API server; the answer, whatever its status.
  Result<std::string> ask_pod(const PodName& pod, int port, const std::string& path,
                              const std::string& body, Milliseconds patience,
                              net::Stopper& stopper);
  const std::string& server() const { return access_.endpoint.base; }

 private:
  Result<net::Request> request(std::string path) const;
  Result<net::Response> ask(const net::Request& request, net::Stopper& stopper);
  Result<std::string> get(const std::string& path, Milliseconds patience, net::Stopper& stopper);
  Result<net::Response> order(const std::string& method, const std::string& path,
                              const std::string& body, Milliseconds patience,
                              net::Stopper& stopper);
  Result<net::Response> patch(const Resize& of, const std::string& body, net::Stopper& stopper);

  const Access access_;
  net::HttpClient http_;
  std::function<bool()> wanted_;
};

}  // namespace assay::kubeapi
