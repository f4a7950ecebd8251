// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <fmt/format.h>

#include <assay/base/process_id.h>
#include <assay/base/text.h>
#include <assay/base/wording.h>
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

std::string annotation_of(const ObjectMeta& object, const char* name) {
  const auto found = object.annotations.find(name);
  return found == object.annotations.end() ? "" : found->second;
}

/// Nothing: it is left over.
std::optional<UsedCopy> use_of(const ObjectMeta& object, Timestamp now) {
  const std::string text = annotation_of(object, kTrialOwner);
  if (text.empty()) return std::nullopt;  // of a version that did not say
  UsedCopy used{.name = object.name, .since = object.created};
  const SysRoot root;
  const auto owner = ProcessId::parse(text);
  if (owner && annotation_of(object, kTrialMachine) == machine_name(root, ProcessId::self(root))) {
    const ProcessState state = state_of(root, *owner);
    if (state == ProcessState::dead) return std::nullopt;
    if (state == ProcessState::alive) return used;
  }
  used.elsewhere = true;
  const auto deadline = parse_double(annotation_of(object, kTrialDeadline));
  if (object.created && deadline) used.until = *object.created + from_seconds(*deadline);
  if (used.until && now >= *used.until) return std::nullopt;
  return used;
}

/// One kind.
Result<void> clean(kubeapi::Client& client, const kubeapi::Query& query,
                   std::optional<Timestamp> unused_at, CleanedTrials& cleaned,
                   net::Stopper& stopper) {
  ASSAY_TRY(const auto listed, kubeapi::list<ObjectMeta>(client, query, stopper));
  if (!listed) return {};
  for (const auto& object : listed->items) {
    if (is_controlled(object) || object.deleted) continue;
    if (auto used = unused_at ? use_of(object, *unused_at) : std::nullopt) {
      cleaned.used.push_back(std::move(*used));
      continue;
    }
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

/// Who may not look at namespaces is not told.
Result<void> check_namespace(kubeapi::Client& client, const std::string& name,
                             net::Stopper& stopper) {
  const kubeapi::Resource namespaces{
      .plural = "namespaces", .kind = "Namespace", .namespaced = false};
  const auto found = kubeapi::get_meta(client, {.resource = namespaces, .name = name}, stopper);
  if (!found) return found.error().kind == ErrorKind::input ? fail(found.error()) : Result<void>();
  if (*found) return {};
  return bad_input(
      fmt::format("the cluster has no namespace {}; kubectl get namespaces lists those that it has",
                  in_quotes(name)));
}

}  // namespace

std::string used_text(const UsedCopy& used, const CopySettings& copy) {
  const auto at = [](const char* word, const std::optional<Timestamp>& time) {
    return time ? fmt::format(" {} {}", word, format_utc(*time)) : "";
  };
  return fmt::format(
      "trials of {} run already{}, as {}{}; wait for them{}, or end them with `assay cluster trial "
      "--clean -n {} --name {}`",
      copy.trial, used.elsewhere ? " on another machine, or in another container of this one" : "",
      used.name, at("since", used.since), at("until", used.until), copy.name_space, copy.trial);
}

Result<CleanedTrials> clean_trials(kubeapi::Client& client, const Clock& clock,
                                   const std::string& name_space, const std::string& trial,
                                   Cleaning cleaning, net::Stopper& stopper) {
  kubeapi::Discovery discovery(client, clock);
  CleanedTrials cleaned;
  const auto unused_at = cleaning == Cleaning::unused ? std::optional(clock.wall()) : std::nullopt;
  Result<void> looked = refused("nothing can be looked at");
  for (const auto& resource : resources_of(discovery, stopper)) {
    const kubeapi::Query query{
        .resource = resource,
        .name_space = name_space,
        .labels = trial.empty() ? kTrialLabel : fmt::format("{}={}", kTrialLabel, trial)};
    const auto done = clean(client, query, unused_at, cleaned, stopper);
    // What is gone by then has to be told.
    if (!done && done.error().temporary && cleaned.removed.empty()) return fail(done.error());
    if (!done)
      cleaned.left.push_back(
          fmt::format("{} were not looked at: {}", resource.name(), done.error().message));
    if (done || !looked) looked = done;
  }
  if (!looked) return fail(looked.error());
  if (cleaned.removed.empty() && cleaned.used.empty() && !name_space.empty())
    ASSAY_CHECK(check_namespace(client, name_space, stopper));
  return cleaned;
}

}  // namespace assay::cluster
