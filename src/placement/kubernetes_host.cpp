// SPDX-License-Identifier: Apache-2.0
#include "model_server.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
#include <assay/kubeapi/client.h>
#include <assay/placement/kubernetes_host.h>

namespace assay::placement {
namespace {

using nlohmann::json;

constexpr int kLastLines = 5;

json manifest_of(const WorkerPlan& plan) {
  json env = json::array();
  for (const auto& [name, value] : plan.env) env.push_back({{"name", name}, {"value", value}});
  const json container = {
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
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata",
           {{"name", plan.name},
            {"labels", {{kWorkerLabel, "worker"}}},
            {"annotations", {{kWorkerLabel, plan.model}}}}},
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
    return client_.create_pod(
        pod_.name_space, manifest_of(whole).dump(-1, ' ', false, json::error_handler_t::replace),
        stopper_);
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

}  // namespace assay::placement
