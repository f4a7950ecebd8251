// SPDX-License-Identifier: Apache-2.0
#include "pods.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <thread>

#include <assay/base/mutex.h>
#include <assay/base/quiet_thread.h>

namespace assay::agent {

namespace asio = boost::asio;
using kubeapi::Access;
using kubeapi::Pod;
using kubeapi::PodChange;

namespace {

/// Goals are written as annotations: a label's value has no room for them.
constexpr std::string_view kOurAnnotations = "assay.";

void take_pod(const Pod& pod, AppIdentity& identity) {
  identity.pod = pod.name;
  identity.name_space = pod.name_space;
  for (const auto& name : identity.labels_of_pod) identity.labels.erase(name);
  identity.labels_of_pod.clear();
  const auto take = [&](const std::string& name, const std::string& value) {
    identity.labels[name] = value;
    identity.labels_of_pod.push_back(name);
  };
  for (const auto& [name, value] : pod.labels) take(name, value);
  for (const auto& [name, value] : pod.annotations)
    if (name.starts_with(kOurAnnotations)) take(name, value);
  const auto own =
      std::find_if(pod.containers.begin(), pod.containers.end(),
                   [&](const auto& container) { return container.id == identity.group.id; });
  // The one that holds the pod together is none of them.
  if (own == pod.containers.end()) return;
  identity.container = own->name;
  identity.name = pod.name + "/" + own->name;
  if (!own->image.empty()) identity.image = own->image;
}

bool has_container(const Pod& pod, const std::string& id) {
  return std::any_of(pod.containers.begin(), pod.containers.end(),
                     [&](const auto& container) { return container.id == id; });
}

/// Where the cluster is; nothing where there is none.
Result<std::optional<Access>> find_cluster(const KubernetesSettings& settings) {
  if (!settings.enabled) return std::optional<Access>();
  if (!settings.kubeconfig.empty()) {
    ASSAY_TRY(Access access, kubeapi::read_kubeconfig(settings.kubeconfig));
    return std::optional(std::move(access));
  }
  const auto account = kubeapi::own_service_account();
  if (!account) return std::optional<Access>();
  ASSAY_TRY(Access access, kubeapi::read_service_account(*account));
  return std::optional(std::move(access));
}

/// As Kubernetes calls this node: a pod is told by its spec, by convention in NODE_NAME.
std::string node_name(const KubernetesSettings& settings, const std::string& hostname) {
  if (!settings.node.empty()) return settings.node;
  const char* const told = std::getenv("NODE_NAME");
  return told != nullptr && *told != '\0' ? told : hostname;
}

class ThreadedPods final : public Pods {
 public:
  ThreadedPods(Access access, const std::string& node, asio::io_context& loop, Changed changed,
               Tell tell)
      : state_(std::make_shared<State>(
            State{.table = {}, .changed = std::move(changed), .tell = std::move(tell)})),
        loop_(loop),
        limits_(access, loop, state_->tell),
        follower_(std::move(access), kubeapi::pods_of_node(node),
                  [this](PodChange change) { pass_on(std::move(change)); }) {
    thread_ = quiet_thread([this](const std::stop_token& stop) { run(stop); });
  }
  ThreadedPods(const ThreadedPods&) = delete;
  ThreadedPods& operator=(const ThreadedPods&) = delete;
  ~ThreadedPods() override {
    thread_.request_stop();
    stopper_.stop();
  }

  const PodTable& table() const override { return state_->table; }
  PodLimits& limits() override { return limits_; }

 private:
  /// Belongs to the loop. What the thread has handed over may come when we are gone.
  struct State {
    PodTable table;
    Changed changed;
    Tell tell;
  };

  void pass_on(PodChange change) {
    asio::post(loop_, [left = std::weak_ptr(state_), change = std::move(change)]() mutable {
      const auto state = left.lock();
      if (!state) return;
      state->table.take(std::move(change));
      state->changed();
    });
  }
  void tell(std::string sentence) {
    asio::post(loop_, [left = std::weak_ptr(state_), sentence = std::move(sentence)] {
      if (const auto state = left.lock()) state->tell(sentence);
    });
  }

  void run(const std::stop_token& stop) {
    bool well = true;
    while (!stop.stop_requested()) {
      const Milliseconds wait = follower_.step(stopper_);
      if (stop.stop_requested()) return;
      const bool was_well = std::exchange(well, follower_.trouble().empty());
      if (was_well && !well) tell("pods are not known: " + follower_.trouble());
      if (!was_well && well) tell("pods are known again");
      sleep(stop, wait);
    }
  }
  void sleep(const std::stop_token& stop, Milliseconds time) {
    if (time.count() == 0) return;
    Lock lock(mutex_);
    never_.wait_for(lock, stop, time, [] { return false; });
  }

  std::shared_ptr<State> state_;
  asio::io_context& loop_;
  PodLimits limits_;
  net::Stopper stopper_;
  kubeapi::PodFollower follower_;
  Mutex mutex_;
  std::condition_variable_any never_;  ///< but when stopped
  std::jthread thread_;                ///< last: it uses all of the above
};

}  // namespace

void PodTable::take(PodChange change) {
  if (change.kind == PodChange::Kind::all) pods_.clear();
  for (auto& pod : change.items) {
    std::string uid = pod.uid;
    if (change.kind == PodChange::Kind::gone) {
      pods_.erase(uid);
    } else if (pods_.size() < kubeapi::kMostPods || pods_.contains(uid)) {
      pods_.insert_or_assign(std::move(uid), std::move(pod));
    }
  }
}

bool PodTable::name(AppIdentity& identity) const {
  if (identity.group.kind != GroupKind::container) return false;
  auto found = pods_.find(identity.group.pod_uid);
  // Pods from a file of the node have another uid in the path.
  if (found == pods_.end())
    found = std::find_if(pods_.begin(), pods_.end(), [&](const auto& entry) {
      return has_container(entry.second, identity.group.id);
    });
  if (found == pods_.end()) return false;
  take_pod(found->second, identity);
  return true;
}

Result<std::unique_ptr<Pods>> Pods::follow(const KubernetesSettings& settings,
                                           const std::string& hostname, asio::io_context& loop,
                                           Changed changed, Tell tell) {
  auto access = find_cluster(settings);
  if (!access) {
    // Who named a cluster wants to know; who only runs in a pod may want none.
    if (!settings.kubeconfig.empty()) return fail(std::move(access).error());
    tell("pods are not known: " + access.error().message);
    return std::unique_ptr<Pods>();
  }
  if (!*access) return std::unique_ptr<Pods>();
  const std::string node = node_name(settings, hostname);
  tell(fmt::format("pods of node {} are named by {}", node,
                   net::shown_url((*access)->endpoint.base)));
  return std::make_unique<ThreadedPods>(std::move(**access), node, loop, std::move(changed),
                                        std::move(tell));
}

void name_apps(const PodTable& pods, LiveTable& table, Reports& reports) {
  for (const auto& [path, app] : table.apps()) {
    if (app->ended()) continue;
    AppIdentity identity = app->identity();
    if (!pods.name(identity)) continue;
    app->identify(std::move(identity));
    reports.relabel(path);
  }
}

}  // namespace assay::agent
