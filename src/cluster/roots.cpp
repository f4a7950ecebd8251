// SPDX-License-Identifier: Apache-2.0
#include "roots.h"

#include <algorithm>
#include <array>

#include <assay/cluster/trial_manifest.h>
#include <assay/kubeapi/writes.h>

namespace assay::cluster {
namespace {

using kubeapi::ObjectName;
using kubeapi::Owner;

/// Owners of owners of owners: more is a mistake, or a circle.
constexpr int kMostSteps = 8;
constexpr int kMostFailures = 3;  ///< in a row

std::string group_of(const Owner& owner) {
  const auto slash = owner.api_version.find('/');
  return slash == std::string::npos ? "" : owner.api_version.substr(0, slash);
}

bool is_batch_job(const Owner& owner) {
  return group_of(owner) == "batch" && owner.kind == "Job";
}

/// Objects that followers know, and that are made for others.
bool stands_between(const Owner& owner) {
  const auto group = group_of(owner);
  if (group == "apps")
    return owner.kind == "ReplicaSet" || owner.kind == "Deployment" || owner.kind == "StatefulSet";
  return is_batch_job(owner) || (group.empty() && owner.kind == "Pod");
}

ObjectName batch_job(const Owner& owner, const std::string& name_space) {
  return {kubeapi::jobs(), name_space, owner.name, owner.uid};
}

}  // namespace

bool is_built_in(const std::string& group) {
  // Operators have names below k8s.io too, such as Spark's.
  constexpr std::array kOwn = {"admissionregistration",
                               "apiextensions",
                               "apiregistration",
                               "authentication",
                               "authorization",
                               "certificates",
                               "coordination",
                               "discovery",
                               "events",
                               "flowcontrol.apiserver",
                               "internal.apiserver",
                               "metrics",
                               "networking",
                               "node",
                               "rbac.authorization",
                               "resource",
                               "scheduling",
                               "storage"};
  return group.find('.') == std::string::npos ||
         std::any_of(kOwn.begin(), kOwn.end(),
                     [&](const char* own) { return group == std::string(own) + ".k8s.io"; });
}

std::optional<Owner> parent_of(const std::vector<Owner>& owners,
                               const std::map<std::string, std::string>& labels) {
  const Owner* const maker = kubeapi::maker_of(owners);
  if (maker == nullptr || (labels.contains(kTrialLabel) && !maker->controller)) return std::nullopt;
  return *maker;
}

bool HiddenJobs::may_have(const ObjectName& job) const {
  const auto within = [&](const std::string& name_space) {
    return job.name_space.empty() || name_space == job.name_space;
  };
  const auto& resource = job.resource;
  return std::any_of(namespaces_.begin(), namespaces_.end(), within) ||
         std::any_of(kinds_.begin(), kinds_.end(), [&](const auto& kind) {
           return within(kind[0]) && kind[1] == resource.group && kind[2] == resource.kind;
         });
}

Roots::Roots(kubeapi::Client& client, kubeapi::RateLimiter& limiter, const Clock& clock,
             Times times)
    : client_(client),
      limiter_(limiter),
      clock_(clock),
      times_(times),
      discovery_(client, clock, {.known = Milliseconds(600'000), .absent = times.absent}) {}

std::optional<ObjectName> Roots::find(const Owner& pods_owner, const std::string& name_space,
                                      const ParentOf& parent_of) {
  std::optional<ObjectName> found;
  Owner owner = pods_owner;
  for (int step = 0; step < kMostSteps; ++step) {
    std::optional<Owner> parent;
    if (stands_between(owner)) {
      if (is_batch_job(owner)) found = batch_job(owner, name_space);
      const auto told = parent_of(owner);
      if (!told) return std::nullopt;
      parent = *told;
    } else if (is_built_in(group_of(owner))) {
      return found;
    } else if (const auto known = known_.find(owner.uid); known != known_.end()) {
      known->second.used = true;
      const bool old = clock_.now() - known->second.asked > times_.absent;
      if (known->second.failed) {
        if (old) wanted_[owner.uid] = {owner, name_space};
        return std::nullopt;
      }
      if (!known->second.object.resource.plural.empty())
        found = known->second.object;
      else if (old)
        wanted_[owner.uid] = {owner, name_space};
      parent = known->second.parent;
    } else {
      wanted_[owner.uid] = {owner, name_space};
      return std::nullopt;
    }
    if (!parent) return found;
    owner = *parent;
  }
  return found;
}

Result<Roots::Known> Roots::ask(const std::string& uid, const Wanted& wanted,
                                net::Stopper& stopper) {
  Known known{.asked = clock_.now()};
  ASSAY_TRY(const auto resource, discovery_.find(kubeapi::kind_of(wanted.owner), stopper));
  if (!resource) {
    known.hides = Hides::its_kind;
    return known;
  }
  known.object = {*resource, resource->namespaced ? wanted.name_space : "", wanted.owner.name, uid};
  const auto meta = kubeapi::get_meta(client_, known.object, stopper);
  // Without the right to look, it is the end of the way.
  if (!meta && meta.error().temporary) return fail(meta.error());
  if (meta && !*meta) known.object = {};  // gone already
  if (meta && *meta) known.parent = parent_of((*meta)->owners, (*meta)->labels);
  return known;
}

std::vector<std::string> Roots::longest_not_asked() const {
  std::vector<std::pair<Timestamp, std::string>> all;
  for (const auto& [uid, wanted] : wanted_) {
    const auto known = known_.find(uid);
    all.emplace_back(known == known_.end() ? Timestamp() : known->second.asked, uid);
  }
  std::sort(all.begin(), all.end());
  std::vector<std::string> uids;
  uids.reserve(all.size());
  for (auto& [asked, uid] : all) uids.push_back(std::move(uid));
  return uids;
}

Result<void> Roots::look_up(net::Stopper& stopper) {
  Result<void> result;
  int in_a_row = 0;
  for (const auto& uid : longest_not_asked()) {
    // A server that is away would be waited for by each of them.
    if (in_a_row == kMostFailures || stopper.stopped() || limiter_.take() > Milliseconds(0)) break;
    const auto wanted = std::move(wanted_.extract(uid).mapped());
    auto known = ask(uid, wanted, stopper);
    in_a_row = known ? 0 : in_a_row + 1;
    // What fails is asked again later, as what is not installed, and holds up no others.
    if (!known) {
      result = fail(known.error());
      known = Known{.asked = clock_.now(),
                    .failed = true,
                    .hides = result.error().temporary ? Hides::anything : Hides::its_kind};
    }
    known->kind = kubeapi::kind_of(wanted.owner);
    known->name_space = wanted.name_space;
    known_[uid] = std::move(*known);
  }
  return result;
}

HiddenJobs Roots::hidden() const {
  HiddenJobs hidden;
  for (const auto& [uid, wanted] : wanted_) hidden.add_any(wanted.name_space);
  for (const auto& [uid, known] : known_) {
    if (known.hides == Hides::anything) hidden.add_any(known.name_space);
    if (known.hides == Hides::its_kind) hidden.add(known.name_space, known.kind);
  }
  return hidden;
}

void Roots::forget_unused() {
  std::erase_if(known_, [](const auto& known) { return !known.second.used; });
  for (auto& [uid, known] : known_) known.used = false;
}

}  // namespace assay::cluster
