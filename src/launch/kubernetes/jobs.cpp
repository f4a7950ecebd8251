// SPDX-License-Identifier: Apache-2.0
#include "docker/container.h"
#include "kubernetes/job_launcher.h"
#include "kubernetes/job_manifest.h"
#include "kubernetes/node_choice.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

#include <assay/kubeapi/follower.h>
#include <assay/kubeapi/writes.h>
#include <assay/launch/jobs.h>

namespace assay::launch {
namespace {

bool is_leftover(const kubeapi::ObjectMeta& job) {
  const auto text = [&](const char* name) {
    const auto found = job.annotations.find(name);
    return found == job.annotations.end() ? std::string() : found->second;
  };
  const auto owner = Owner::parse(text(kJobOwnerAnnotation));
  return owner && text(kJobMachineAnnotation) == machine_name(SysRoot(), Owner::self(SysRoot())) &&
         state_of(SysRoot(), *owner) == ProcessState::dead;
}

class JobsOfCluster final : public Jobs {
 public:
  JobsOfCluster(JobSettings settings, bool only_plan)
      : settings_(std::move(settings)), only_plan_(only_plan), client_(settings_.access) {}

  void while_wanted(Waiting waiting) override {
    waiting_ = std::move(waiting);
    if (waiting_) client_.set_wanted([this] { return waiting_("asking " + engine()); });
  }
  std::string engine() const override {
    return fmt::format("Kubernetes at {}", net::shown_url(client_.server()));
  }
  const std::string& node() const override { return agent_.node; }
  const Device& device() const override { return device_; }

  std::vector<Obstacle> obstacles(const Target& target) override {
    auto found = job_obstacles(target, settings_);
    if (!found.empty() || only_plan_) return found;
    targets_.push_back(target);
    const NodeOffer none;
    const NodeOffer& offer = offer_ && *offer_ ? **offer_ : none;
    if (!agent_.node.empty() && can_take(node_, offer, target, settings_)) return found;
    std::string key = "runtime";
    if (const auto chosen = choose(key); !chosen) {
      targets_.pop_back();
      found.push_back({key, chosen.error()});
    }
    return found;
  }

  std::unique_ptr<Launcher> launcher() override {
    offer_.reset();  // thousands of pods, perhaps
    return make_job_launcher(settings_, agent_, waiting_);
  }

  Result<std::vector<NodeKind>> kinds(const std::string& label,
                                      const std::string& pattern) override {
    ASSAY_TRY(const auto nodes, list_nodes(settings_.node_selector));
    return kinds_of(nodes, label, pattern);
  }

  Result<std::string> told_apart_by(const std::string& label) override {
    ASSAY_TRY(const auto nodes, list_nodes({}));
    return labels_told(nodes, label);
  }

  Result<std::vector<std::string>> clean_up() override {
    auto jobs = list_jobs("");
    // Whoever may not look everywhere may still look at home.
    if (!jobs) jobs = list_jobs(settings_.name_space);
    if (!jobs) return fail(jobs.error());
    std::vector<std::string> lines;
    for (const auto& job : *jobs)
      if (is_leftover(job)) lines.push_back(remove(job));
    return lines;
  }

 private:
  Result<std::vector<kubeapi::ObjectMeta>> list_jobs(const std::string& name_space) {
    ASSAY_TRY(auto found, kubeapi::list<kubeapi::ObjectMeta>(client_,
                                                             {.resource = kubeapi::jobs(),
                                                              .name_space = name_space,
                                                              .labels = kJobSessionLabel},
                                                             stopper_));
    return found ? std::move(found->items) : std::vector<kubeapi::ObjectMeta>();
  }

  std::string remove(const kubeapi::ObjectMeta& job) {
    const auto removed =
        kubeapi::delete_object(client_, {kubeapi::jobs(), job.name_space, job.name, job.uid},
                               kubeapi::Propagation::background, stopper_);
    const std::string why = !removed ? removed.error().message : removed->why;
    if (!removed ||
        (removed->outcome != kubeapi::Outcome::done && removed->outcome != kubeapi::Outcome::gone))
      return fmt::format("could not delete Job {}: {}", job.name, why);
    return fmt::format("deleted Job {} of session {}", job.name, job.labels.at(kJobSessionLabel));
  }

  Result<std::vector<kubeapi::Node>> list_nodes(const std::map<std::string, std::string>& labels) {
    ASSAY_TRY(
        auto found,
        kubeapi::list<kubeapi::Node>(
            client_, {.resource = kubeapi::nodes(), .labels = selector_text(labels)}, stopper_));
    return found ? std::move(found->items) : std::vector<kubeapi::Node>();
  }

  Result<NodeOffer> find_offer() {
    NodeOffer offer;
    ASSAY_TRY(offer.nodes, list_nodes(settings_.node_selector));
    if (offer.nodes.empty() && !settings_.node_selector.empty()) {
      ASSAY_TRY(offer.others, list_nodes({}));
    }
    agent_.token = find_token(client_, settings_, stopper_);
    if (settings_.agent_url.empty()) {
      ASSAY_TRY(offer.agents,
                client_.pod_states(settings_.agent_namespace, settings_.agent_label, stopper_));
    } else {
      ASSAY_TRY(offer.only, ask_agent({settings_.agent_url, "", agent_.token}));
      if (offer.nodes.size() == 1) offer.only.clear();  // whatever it calls itself
    }
    if (!offer.nodes.empty())
      offer.pods = list_pods(offer.nodes.size() == 1 ? offer.nodes.front().name : "");
    return offer;
  }

  /// For all targets until now. `key` is then that of the spec which an error is about, and what
  /// was chosen before stays.
  Result<void> choose(std::string& key) {
    if (!offer_) offer_ = find_offer();
    if (!*offer_) return fail(offer_->error());
    const NodeOffer& offer = **offer_;
    ASSAY_TRY(const Nodes suitable, suitable_nodes(offer, targets_, settings_));
    key = "resources";
    ASSAY_TRY(const ChosenNode chosen, choose_node(suitable, offer, targets_, settings_));
    key = "runtime";
    const auto node =
        std::find_if(offer.nodes.begin(), offer.nodes.end(),
                     [&](const kubeapi::Node& each) { return each.name == chosen.node; });
    auto known = devices_.find(chosen.node);
    if (known == devices_.end())
      known = devices_.emplace(chosen.node, know_device(*node, chosen.agent)).first;
    if (!known->second) return fail(known->second.error());
    agent_.node = chosen.node;
    agent_.pod = chosen.agent;
    node_ = *node;
    device_ = *known->second;
    return {};
  }

  /// Its name for its machine.
  Result<std::string> ask_agent(const AgentPlace& place) {
    AgentClient agent(settings_, place, clock_);
    if (waiting_) agent.set_wanted([this] { return waiting_("asking " + engine()); });
    ASSAY_TRY(const AgentAnswer answer, agent.ask("none", stopper_));
    return answer.node;
  }

  /// Only to choose better: without them any node will do. Empty: of all nodes.
  std::vector<kubeapi::Pod> list_pods(const std::string& node) {
    const std::string fields = node.empty() ? "" : "spec.nodeName=" + node;
    auto found = kubeapi::list<kubeapi::Pod>(
        client_, {.resource = kubeapi::pods(), .fields = fields}, stopper_);
    return found && *found ? std::move((*found)->items) : std::vector<kubeapi::Pod>();
  }

  /// What the node is; an error where its agent gives no answer: better now than when the app runs.
  Result<Device> know_device(const kubeapi::Node& node, const std::string& agent) {
    ASSAY_CHECK(ask_agent({node.name, agent, agent_.token}));
    ASSAY_TRY(const auto text,
              kubeapi::get_object(client_, {kubeapi::nodes(), "", node.name, ""}, stopper_));
    Device device = device_of(text.value_or(""));
    device.hostname = node.name;
    add_capacity(node, device);
    return device;
  }

  const JobSettings settings_;
  const bool only_plan_;
  kubeapi::Client client_;
  net::Stopper stopper_;
  SystemClock clock_;
  Waiting waiting_;
  std::vector<Target> targets_;
  std::optional<Result<NodeOffer>> offer_;         ///< asked for once for all targets
  std::map<std::string, Result<Device>> devices_;  ///< of the nodes whose agents were asked
  AgentPlace agent_;
  kubeapi::Node node_;  ///< the chosen one
  Device device_;
};

}  // namespace

std::shared_ptr<Jobs> open_jobs(JobSettings settings) {
  return std::make_shared<JobsOfCluster>(std::move(settings), false);
}

std::shared_ptr<Jobs> plan_jobs(JobSettings settings) {
  return std::make_shared<JobsOfCluster>(std::move(settings), true);
}

}  // namespace assay::launch
