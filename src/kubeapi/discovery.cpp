// SPDX-License-Identifier: Apache-2.0
#include "answers.h"
#include "discovery_json.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/kubeapi/discovery.h>
#include <assay/kubeapi/json_at.h>

namespace assay::kubeapi {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostResources = 1000;
/// Anybody can write any owner.
constexpr size_t kMostServed = 256;
constexpr size_t kLongestWord = 253;

/// Of a group or version: what else is in it would lead to another path.
bool is_word(const std::string& text) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789.-";
  return text.size() <= kLongestWord && text.find_first_not_of(kAllowed) == text.npos &&
         text.find_first_not_of('.') != text.npos;
}

std::string group_path(const std::string& group) {
  return group.empty() ? "/api" : "/apis/" + group;
}

bool can(const Json& resource, const Verbs& verbs) {
  const Json& known = at(resource, "verbs");
  return std::all_of(verbs.begin(), verbs.end(), [&](const std::string& verb) {
    return known.is_array() && std::find(known.begin(), known.end(), verb) != known.end();
  });
}

}  // namespace

KindName kind_of(const Owner& owner) {
  const size_t slash = owner.api_version.find('/');
  if (slash == owner.api_version.npos) return {.version = owner.api_version, .kind = owner.kind};
  return {.group = owner.api_version.substr(0, slash),
          .version = owner.api_version.substr(slash + 1),
          .kind = owner.kind};
}

Result<std::vector<Resource>> read_resources(std::string_view text, const Verbs& verbs) {
  const Json json = Json::parse(text, nullptr, false);
  const Json& list = at(json, "resources");
  const std::string whole = text_at(json, "groupVersion");
  const KindName of = kind_of({.api_version = whole});
  if (whole.empty() || !list.is_array())
    return refused("the API server's answer is no list of resources");
  std::vector<Resource> resources;
  for (const auto& each : list) {
    if (resources.size() == kMostResources) break;
    std::string plural = text_at(each, "name");
    std::string kind = text_at(each, "kind");
    // "pods/log" is a part of another one.
    if (plural.empty() || kind.empty() || plural.find('/') != plural.npos) continue;
    if (!can(each, verbs)) continue;
    const Json& namespaced = at(each, "namespaced");
    resources.push_back({.group = of.group,
                         .version = of.version,
                         .plural = std::move(plural),
                         .kind = std::move(kind),
                         .namespaced = namespaced.is_boolean() && namespaced.get<bool>()});
  }
  return resources;
}

Result<std::string> read_preferred(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  std::string version = text_at(at(json, "preferredVersion"), "version");
  if (!is_word(version)) return refused("the API server's answer is no group of resources");
  return version;
}

Result<std::vector<Group>> read_groups(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  const Json& list = at(json, "groups");
  if (!list.is_array()) return refused("the API server's answer is no list of groups");
  std::vector<Group> groups;
  for (const auto& each : list) {
    Group group{.name = text_at(each, "name"),
                .versions = {text_at(at(each, "preferredVersion"), "version")}};
    const Json& versions = at(each, "versions");
    if (versions.is_array())
      for (const auto& one : versions)
        if (auto version = text_at(one, "version"); version != group.versions.front())
          group.versions.push_back(std::move(version));
    std::erase_if(group.versions, [](const std::string& version) { return !is_word(version); });
    if (is_word(group.name) && groups.size() < kMostServed) groups.push_back(std::move(group));
  }
  return groups;
}

Result<Offer> find_resources(Client& client, const std::function<bool(const std::string&)>& wanted,
                             const Verbs& verbs, net::Stopper& stopper) {
  ASSAY_TRY(const net::Response all, client.call({.path = "/apis"}, stopper));
  if (!all.ok()) return not_answered(client.server(), all, "get /apis");
  ASSAY_TRY(const auto groups, read_groups(all.body));
  Offer offer;
  for (const auto& group : groups) {
    if (!wanted(group.name)) continue;
    std::set<std::string> known;
    for (const auto& version : group.versions) {
      const auto path = fmt::format("{}/{}", group_path(group.name), version);
      ASSAY_TRY(const net::Response response, client.call({.path = path}, stopper));
      auto resources = response.ok() ? read_resources(response.body, verbs)
                                     : not_answered(client.server(), response, "get " + path);
      // A group that another server serves may be without that server.
      if (!resources) {
        offer.unanswered.push_back(resources.error().message);
        continue;
      }
      for (auto& resource : *resources)
        if (known.insert(resource.plural).second) offer.resources.push_back(std::move(resource));
    }
  }
  return offer;
}

Discovery::Discovery(Client& client, const Clock& clock, DiscoveryTimes times)
    : client_(client), clock_(clock), times_(times) {}

Result<void> Discovery::read_version(std::string_view text, Served& into) {
  ASSAY_TRY(into.resources, read_resources(text));
  return {};
}

Result<void> Discovery::read_group(std::string_view text, Served& into) {
  ASSAY_TRY(into.preferred, read_preferred(text));
  return {};
}

Result<Discovery::Served> Discovery::served(const std::string& path, Milliseconds oldest, Read read,
                                            net::Stopper& stopper) {
  const Timestamp now = clock_.now();
  const auto found = served_.find(path);
  if (found != served_.end() && now - found->second.asked < oldest) return found->second;
  ASSAY_TRY(const net::Response response, client_.call({.path = path}, stopper));
  Served fresh{.asked = now};
  if (response.ok()) {
    ASSAY_CHECK(read(response.body, fresh));
  } else if (response.status != kNotFound) {
    return not_answered(client_.server(), response, "get " + path);
  }
  if (served_.size() >= kMostServed) served_.clear();
  served_[path] = fresh;
  return fresh;
}

Result<std::optional<Resource>> Discovery::find_in(const std::string& group,
                                                   const std::string& version,
                                                   const std::string& kind, net::Stopper& stopper) {
  const std::string path = fmt::format("{}/{}", group_path(group), version);
  // What was not there may have come.
  for (const Milliseconds oldest : {times_.known, times_.absent}) {
    ASSAY_TRY(Served all, served(path, oldest, read_version, stopper));
    const auto found = std::find_if(all.resources.begin(), all.resources.end(),
                                    [&](const Resource& each) { return each.kind == kind; });
    if (found != all.resources.end()) return std::optional(std::move(*found));
  }
  return std::optional<Resource>();
}

Result<std::optional<Resource>> Discovery::find(const KindName& kind, net::Stopper& stopper) {
  const std::optional<Resource> none;
  if (!(kind.group.empty() || is_word(kind.group))) return none;
  if (!(kind.version.empty() || is_word(kind.version))) return none;
  if (!kind.version.empty()) {
    ASSAY_TRY(auto found, find_in(kind.group, kind.version, kind.kind, stopper));
    if (found) return found;
  }
  std::string preferred = "v1";  // of the core
  if (!kind.group.empty()) {
    ASSAY_TRY(Served group, served(group_path(kind.group), times_.absent, read_group, stopper));
    preferred = std::move(group.preferred);
  }
  if (preferred.empty() || preferred == kind.version) return none;
  return find_in(kind.group, preferred, kind.kind, stopper);
}

Result<std::optional<ObjectName>> Discovery::controller(const std::vector<Owner>& owners,
                                                        const std::string& name_space,
                                                        net::Stopper& stopper) {
  const Owner* const found = maker_of(owners);
  if (found == nullptr) return std::optional<ObjectName>();
  ASSAY_TRY(auto resource, find(kind_of(*found), stopper));
  if (!resource) return std::optional<ObjectName>();
  const bool within = resource->namespaced;
  return std::optional(ObjectName{.resource = std::move(*resource),
                                  .name_space = within ? name_space : "",
                                  .name = found->name,
                                  .uid = found->uid});
}

}  // namespace assay::kubeapi
