// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/kubeapi/access.h>
#include <assay/net/http_client.h>

namespace assay::kubeapi {

struct Credential;

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

/// A request in plain words of HTTP.
struct Call {
  std::string method = "GET";
  std::string path = {};  ///< with the query, encoded
  std::string body = {};
  std::string content_type = "application/json";
  std::string accept = "application/json";
  std::vector<std::string> headers = {};  ///< further ones, "Name: value"
  Milliseconds patience{30'000};
  /// Also when nothing is wanted any more: what was ordered and not heard of would stay for ever.
  bool finish = false;
};

/// Asks one API server, over one connection. One thread at a time; another one can end a call by
/// the stopper.
class Client {
 public:
  explicit Client(Access access);
  /// Asked several times a second while the server is waited for; false ends a call, unless it
  /// creates or deletes something.
  void set_wanted(std::function<bool()> wanted) { wanted_ = std::move(wanted); }

  /// Any request; the answer, whatever its status. An error: there was none, or a very large one.
  Result<net::Response> call(const Call& call, net::Stopper& stopper);
  /// The same, with the body of an answer that is ok() in pieces as they come.
  Result<net::Response> stream(const Call& call, const net::HttpClient::Take& take,
                               net::Stopper& stopper);
  /// For how long the last answer asked to be left alone; 0: it did not.
  Milliseconds retry_after() const { return retry_after_; }

  /// Changes a pod in place, so that its containers go on running. An error: the cluster could, and
  /// refused or did not answer.
  Result<Resized> resize(const Resize& wanted, net::Stopper& stopper);
  Result<void> resize_back(const Resize& done, const std::string& undo, net::Stopper& stopper);

  /// `manifest` is JSON. Nothing that runs is changed: a name that is taken is an error.
  Result<void> create_pod(const std::string& name_space, const std::string& manifest,
                          net::Stopper& stopper);
  /// One that is not there is an error of kind input.
  Result<PodState> pod_state(const PodName& pod, net::Stopper& stopper);
  /// All of a namespace that have the label; the patience is for a page of them.
  Result<std::vector<PodState>> pod_states(const std::string& name_space, const std::string& label,
                                           net::Stopper& stopper,
                                           Milliseconds patience = Milliseconds(30'000));
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
  Result<Credential> credential(const Call& call, const net::Stopper& stopper) const;
  /// Connections with another certificate are of no use any more.
  void show(const std::shared_ptr<const Fd>& certificate);
  Result<net::Request> request(const Call& call, const std::string& token) const;
  Result<std::string> get(const std::string& path, Milliseconds patience, net::Stopper& stopper);
  Result<net::Response> patch(const Resize& of, const std::string& body, net::Stopper& stopper);

  const Access access_;
  net::HttpClient http_;
  std::shared_ptr<const Fd> certificate_;  ///< of the login, when http_ was made
  std::function<bool()> wanted_;
  Milliseconds retry_after_{};
};

}  // namespace assay::kubeapi
