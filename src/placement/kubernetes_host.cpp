// SPDX-License-Identifier: Apache-2.0
#include "model_server.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <random>

#include <assay/base/text.h>
#include <assay/kubeapi/client.h>
#include <assay/placement/kubernetes_host.h>

namespace assay::placement {
namespace {

using nlohmann::json;

constexpr int kLastLines = 5;
/// Of one start, so that no other pod is taken for it.
constexpr const char* kStartLabel = "assay.placement.start";
/// How often a pod is looked for whose creation was not answered.
constexpr int kLooks = 5;
constexpr int kLookAgain = 500;  // milliseconds

std::string new_mark() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

json manifest_of(const WorkerPlan& plan, const std::string& mark) {
  json env = json::array();
  for (const auto& [name, value] : plan.env) env.push_back({{"name", name}, {"value", value}});
  json container = {
      {"name", "worker"},
      {"image", plan.image},
      {"imagePullPolicy", "IfNotPresent"},
      {"env", std::move(env)},
      {"ports", json::array({{{"containerPort", kWorkerPort}}})},
      {"readinessProbe",
       {{"httpGet", {{"path", "/healthz"}, {"port", kWorkerPort}}}, {"periodSeconds", 1}}},
      {"volumeMounts", json::array({{{"name", "tmp"}, {"mountPath", "/tmp"}}})},
      {"securityContext",
       {{"readOnlyRootFilesystem", true},
        {"allowPrivilegeEscalation", false},
        {"capabilities", {{"drop", {"ALL"}}}}}}};
  if (const uint64_t most = memory_limit(plan); most > 0)
    container["resources"] = {{"requests", {{"memory", fmt::format("{:.0f}", plan.memory_bytes)}}},
                              {"limits", {{"memory", std::to_string(most)}}}};
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata",
           {{"name", plan.name},
            {"labels", {{kWorkerLabel, "worker"}, {kStartLabel, mark}}},
            {"annotations", {{kWorkerLabel, plan.model}, {kNodeLabel, plan.node}}}}},
          {"spec",
           {{"restartPolicy", "Never"},
            {"automountServiceAccountToken", false},
            {"terminationGracePeriodSeconds", 5},
            {"nodeSelector", {{"kubernetes.io/hostname", plan.node}}},
            {"volumes", json::array({{{"name", "tmp"}, {"emptyDir", json::object()}}})},
            {"containers", json::array({container})}}}};
}

class KubernetesHost final : public WorkerHost {
 public:
  KubernetesHost(const KubernetesPlace& place, std::function<bool()> wanted)
      : client_(place.access), pod_{place.name_space, ""}, advertise_(place.advertise) {
    client_.set_wanted(std::move(wanted));
  }

  Result<void> start(const WorkerPlan& plan) override {
    if (advertise_.empty())
      return bad_input("say --advertise ADDRESS: of this machine, as the cluster's pods reach it");
    ASSAY_TRY(models_, ModelServer::start(plan.file, advertise_));
    WorkerPlan whole = plan;
    whole.env["ASSAY_MODEL_URL"] = models_->url();
    whole.env["ASSAY_MODEL_KEY"] = models_->key();
    pod_.name = plan.name;
    const std::string mark = new_mark();
    const auto created = client_.create_pod(
        pod_.name_space,
        manifest_of(whole, mark).dump(-1, ' ', false, json::error_handler_t::replace), stopper_);
    if (!created) return taken_back(created.error(), mark);
    return {};
  }

  Result<bool> serves() override {
    ASSAY_TRY(const kubeapi::PodState state, client_.pod_state(pod_, stopper_));
    uid_ = state.uid;
    if (state.over) return fail(ErrorKind::app, state.trouble + last_words());
    if (!state.ready) return false;
    models_.reset();
    return true;
  }

  Result<std::string> run(const std::string& body, Milliseconds patience) override {
    return client_.ask_pod(pod_, kWorkerPort, "/run", body, patience, stopper_);
  }

  std::string address() const override {
    return fmt::format("port {} of pod {}/{}", kWorkerPort, pod_.name_space, pod_.name);
  }

  Result<void> end() override {
    if (uid_.empty()) {
      client_.set_wanted({});
      ASSAY_TRY(const kubeapi::PodState state, client_.pod_state(pod_, stopper_));
      uid_ = state.uid;
    }
    return client_.delete_pod(pod_, uid_, stopper_);
  }

 private:
  /// A server that does not answer may have made the pod all the same.
  Failure taken_back(Error error, const std::string& mark) {
    client_.set_wanted({});
    for (int look = 0; look < kLooks; ++look) {
      if (look > 0) ::poll(nullptr, 0, kLookAgain);
      const auto state = client_.pod_state(pod_, stopper_);
      if (!state && !error.temporary) return fail(std::move(error));
      if (!state) continue;
      const auto found = state->labels.find(kStartLabel);
      const bool ours = found != state->labels.end() && found->second == mark;
      if (!ours || client_.delete_pod(pod_, state->uid, stopper_)) return fail(std::move(error));
    }
    error.message += fmt::format(
        "; should the cluster make the pod after all, `assay place --end {} --kubernetes "
        "--namespace {}` ends it",
        pod_.name, pod_.name_space);
    return fail(std::move(error));
  }

  std::string last_words() {
    const auto text = client_.pod_log(pod_, kLastLines, stopper_);
    if (!text) return "";
    std::string line(trim(*text));
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < 0x20; }, ' ');
    return line.empty() ? "" : ": " + line;
  }

  kubeapi::Client client_;
  net::Stopper stopper_;
  kubeapi::PodName pod_;
  std::string uid_;
  std::string advertise_;
  std::unique_ptr<ModelServer> models_;
};

Worker worker_of(const kubeapi::PodState& pod) {
  const auto note = [&](const char* name) {
    const auto found = pod.annotations.find(name);
    return found == pod.annotations.end() ? "" : found->second;
  };
  Worker worker{.name = pod.name, .model = note(kWorkerLabel), .node = pod.node};
  if (worker.node.empty()) worker.node = note(kNodeLabel);
  if (pod.ready) worker.state = Worker::State::running;
  if (pod.over) worker.state = Worker::State::ended;
  worker.since = pod.created;
  return worker;
}

}  // namespace

std::unique_ptr<WorkerHost> kubernetes_host(const KubernetesPlace& place,
                                            std::function<bool()> wanted) {
  return std::make_unique<KubernetesHost>(place, std::move(wanted));
}

Result<void> end_kubernetes_worker(const KubernetesPlace& place, const std::string& name) {
  kubeapi::Client client(place.access);
  net::Stopper stopper;
  const kubeapi::PodName pod{place.name_space, name};
  ASSAY_TRY(const kubeapi::PodState state, client.pod_state(pod, stopper));
  if (!state.labels.contains(kWorkerLabel))
    return bad_input(fmt::format("pod {} was not started by assay place", name));
  return client.delete_pod(pod, state.uid, stopper);
}

Result<std::vector<Worker>> kubernetes_workers(const KubernetesPlace& place,
                                               std::function<bool()> wanted) {
  kubeapi::Client client(place.access);
  client.set_wanted(std::move(wanted));
  net::Stopper stopper;
  ASSAY_TRY(const auto pods, client.pod_states(place.name_space, kWorkerLabel, stopper));
  std::vector<Worker> workers;
  for (const auto& pod : pods) workers.push_back(worker_of(pod));
  return workers;
}

}  // namespace assay::placement
