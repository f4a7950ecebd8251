// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <fmt/format.h>

#include <assay/cluster/trial_runner.h>
#include <assay/kubeapi/follower.h>
#include <assay/kubeapi/writes.h>

namespace assay::cluster {
namespace {

using kubeapi::ObjectMeta;

/// All that trials can make. Pods come last: those of the others go with them.
std::vector<kubeapi::Resource> resources_of(kubeapi::Discovery& discovery, net::Stopper& stopper) {
  std::vector<kubeapi::Resource> all = {kubeapi::jobs()};
  for (const char* kind : {"MPIJob", "PyTorchJob"}) {
    const auto found = discovery.find({.group = "kubeflow.org", .kind = kind}, stopper);
    if (found && *found) all.push_back(**found);
  }
  all.push_back(kubeapi::pods());
  return all;
}

bool is_controlled(const ObjectMeta& object) {
  for (const auto& owner : object.owners)
    if (owner.controller) return true;
  return false;
}

/// One kind.
Result<void> clean(kubeapi::Client& client, const kubeapi::Query& query, CleanedTrials& cleaned,
                   net::Stopper& stopper) {
  ASSAY_TRY(const auto listed, kubeapi::list<ObjectMeta>(client, query, stopper));
  if (!listed) return {};
  for (const auto& object : listed->items) {
    if (is_controlled(object) || object.deleted) continue;
    const auto written = kubeapi::delete_object(client,
                                                {.resource = query.resource,
                                                 .name_space = object.name_space,
                                                 .name = object.name,
                                                 .uid = object.uid},
                                                kubeapi::Propagation::foreground, stopper);
    if (written && written->outcome == kubeapi::Outcome::done)
      cleaned.removed.push_back(object.name);
    else if (!written || written->outcome != kubeapi::Outcome::gone)
      cleaned.left.push_back(fmt::format("{} stays: {}", object.name,
                                         written ? written->why : written.error().message));
  }
  return {};
}

}  // namespace

Result<CleanedTrials> clean_trials(kubeapi::Client& client, const Clock& clock,
                                   const std::string& name_space, const std::string& trial,
                                   net::Stopper& stopper) {
  kubeapi::Discovery discovery(client, clock);
  CleanedTrials cleaned;
  Result<void> looked = refused("nothing can be looked at");
  for (const auto& resource : resources_of(discovery, stopper)) {
    const kubeapi::Query query{
        .resource = resource,
        .name_space = name_space,
        .labels = trial.empty() ? kTrialLabel : fmt::format("{}={}", kTrialLabel, trial)};
    const auto done = clean(client, query, cleaned, stopper);
    // What is gone by then has to be told.
    if (!done && done.error().temporary && cleaned.removed.empty()) return fail(done.error());
    if (!done)
      cleaned.left.push_back(
          fmt::format("{} were not looked at: {}", resource.name(), done.error().message));
    if (done || !looked) looked = done;
  }
  if (!looked) return fail(looked.error());
  return cleaned;
}

}  // namespace assay::cluster
