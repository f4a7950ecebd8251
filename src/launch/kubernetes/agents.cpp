// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/agent_client.h"
#include "kubernetes/agent_pods.h"
#include "kubernetes/agent_series.h"
#include "kubernetes/node_choice.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/kubeapi/follower.h>
#include <assay/kubeapi/writes.h>
#include <assay/launch/agents.h>

namespace assay::launch {
namespace {

/// Somebody who watches many of them waits for each.
constexpr Milliseconds kLongestLook{2000};

class WatchOfAgent final : public AgentWatch {
 public:
  WatchOfAgent(const JobSettings& settings, const AgentPlace& place, const Clock& clock,
               std::string container_id, const StillWanted& wanted)
      : node_(place.node),
        container_id_(std::move(container_id)),
        client_(settings, place, clock),
        series_(client_.who()) {
    client_.set_wanted(wanted);
  }

  Result<bool> look(SampleSink& sink) override {
    net::Stopper stopper;
    ASSAY_TRY(auto answer, client_.ask(container_id_, stopper));
    if (!answer.app) return last_.has_value();
    last_ = std::move(answer.app);
    series_.push(*last_, client_.offset(), sink);
    return true;
  }
  std::optional<Timestamp> started() const override {
    return last_ ? std::optional(client_.offset().ours(last_->started)) : std::nullopt;
  }
  std::optional<Timestamp> ended() const override {
    if (!last_ || last_->running || last_->lower_bound) return std::nullopt;
    return client_.offset().ours(last_->read);
  }
  Exit used() const override {
    Exit exit;
    if (last_) add_used(*last_, exit);
    return exit;
  }
  Elsewhere elsewhere() const override {
    return {node_, client_.who(), client_.offset().offset(), client_.offset().uncertainty()};
  }

 private:
  const std::string node_;
  const std::string container_id_;
  AgentClient client_;
  AgentSeries series_;
  std::optional<AgentApp> last_;
};

class AgentsOfCluster final : public Agents {
 public:
  AgentsOfCluster(JobSettings settings, const Clock& clock, StillWanted wanted)
      : settings_(std::move(settings)),
        clock_(clock),
        wanted_(std::move(wanted)),
        client_(settings_.access) {
    client_.set_wanted(wanted_);
  }

  Result<std::unique_ptr<AgentWatch>> watch(const std::string& node,
                                            const std::string& container_id) override {
    AgentPlace place{.node = node, .pod = "", .token = token()};
    if (settings_.agent_url.empty()) {
      ASSAY_TRY(place.pod, pod_on(node));
    }
    return std::make_unique<WatchOfAgent>(settings_, place, clock_, container_id, wanted_);
  }

  Device device(const std::string& node) override {
    net::Stopper stopper;
    const auto text = kubeapi::get_object(client_, {kubeapi::nodes(), "", node, ""}, stopper);
    const auto listed = kubeapi::list<kubeapi::Node>(
        client_, {.resource = kubeapi::nodes(), .fields = "metadata.name=" + node}, stopper);
    Device device = device_of(text ? text->value_or("") : "");
    device.hostname = node;
    if (listed && *listed)
      for (const auto& one : (*listed)->items) add_capacity(one, device);
    return device;
  }

 private:
  Result<std::string> pod_on(const std::string& node) {
    net::Stopper stopper;
    ASSAY_TRY(const auto pods,
              client_.pod_states(settings_.agent_namespace, settings_.agent_label, stopper));
    if (const auto* const pod = agent_on(pods, node)) return pod->name;
    return refused(no_agent_told(pods, {node}, settings_));
  }

  /// That of the cluster is asked for again as long as there is none.
  const AgentToken& token() {
    net::Stopper stopper;
    if (token_.text.empty()) token_ = find_token(client_, settings_, stopper);
    return token_;
  }

  const JobSettings settings_;
  const Clock& clock_;
  const StillWanted wanted_;
  kubeapi::Client client_;
  AgentToken token_;
};

}  // namespace

std::unique_ptr<Agents> open_agents(JobSettings settings, const Clock& clock, StillWanted wanted) {
  settings.agent_patience = std::min(settings.agent_patience, kLongestLook);
  return std::make_unique<AgentsOfCluster>(std::move(settings), clock, std::move(wanted));
}

}  // namespace assay::launch
