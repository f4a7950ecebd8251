// SPDX-License-Identifier: Apache-2.0
#include "trial_pods.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/letters.h>
#include <assay/base/text.h>
#include <assay/cluster/trial_manifest.h>
#include <assay/kubeapi/follower.h>

namespace assay::cluster {
namespace {

using Json = nlohmann::json;

constexpr int kMostLines = 20'000;

/// The message of the last warning in a list of events; empty: there is none.
std::string last_warning(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  std::string message;
  if (!json.is_object() || !json.contains("items") || !json["items"].is_array()) return message;
  for (const auto& event : json["items"]) {
    if (!event.is_object() || event.value("type", Json()) != "Warning") continue;
    const Json told = event.value("message", Json());
    if (told.is_string()) message = told.get<std::string>();
  }
  return message;
}

bool is_about_room(const std::string& text) {
  return text.find("Unschedulable") != text.npos || text.find("exceeded quota") != text.npos ||
         text.find("Insufficient") != text.npos;
}

}  // namespace

Result<std::vector<kubeapi::Pod>> TrialPods::list(net::Stopper& stopper) {
  ASSAY_TRY(auto found,
            kubeapi::list<kubeapi::Pod>(client_,
                                        {.resource = kubeapi::pods(),
                                         .name_space = name_space_,
                                         .labels = fmt::format("{}={}", kCopyLabel, copy_)},
                                        stopper));
  return found ? std::move(found->items) : std::vector<kubeapi::Pod>();
}

std::string TrialPods::event(net::Stopper& stopper) {
  const auto response =
      client_.call({.path = fmt::format("/api/v1/namespaces/{}/events?limit=100&fieldSelector={}",
                                        net::url_encoded(name_space_),
                                        net::url_encoded("involvedObject.name=" + copy_))},
                   stopper);
  return response && response->ok() ? last_warning(response->body) : "";
}

TrialPods::Trouble TrialPods::trouble(net::Stopper& stopper) {
  const auto states =
      client_.pod_states(name_space_, fmt::format("{}={}", kCopyLabel, copy_), stopper);
  Trouble trouble;
  if (states) {
    for (const auto& state : *states) {
      if (state.trouble.empty()) continue;
      // An end that is bad says more than a good one, and than waiting.
      if (!trouble.text.empty() && (!state.over || state.trouble.starts_with("it ended with 0 ")))
        continue;
      trouble.text = state.trouble;
      trouble.hopeless |= state.over;
    }
  }
  if (trouble.text.empty()) trouble.text = event(stopper);
  // What an app wrote last may be in the words of its end.
  trouble.unschedulable = !trouble.hopeless && is_about_room(trouble.text);
  return trouble;
}

std::string TrialPods::last_words(const std::string& pod, net::Stopper& stopper) {
  const auto log = client_.pod_log({name_space_, pod}, 1, stopper);
  return log ? printable(trim(*log)) : "";
}

NodeHealth TrialPods::health(const std::string& node, net::Stopper& stopper) {
  if (node.empty()) return NodeHealth::well;
  const auto found = kubeapi::list<kubeapi::Node>(
      client_, {.resource = kubeapi::nodes(), .fields = "metadata.name=" + node}, stopper);
  if (!found || !*found) return NodeHealth::well;
  if ((*found)->items.empty()) return NodeHealth::gone;
  return (*found)->items.front().ready ? NodeHealth::well : NodeHealth::unready;
}

bool TrialPods::remove_at_once(const kubeapi::Pod& pod, net::Stopper& stopper) {
  const auto path = kubeapi::object_path(
      {.resource = kubeapi::pods(), .name_space = name_space_, .name = pod.name});
  if (!path) return true;
  const Json options = {{"apiVersion", "v1"},
                        {"kind", "DeleteOptions"},
                        {"gracePeriodSeconds", 0},
                        {"preconditions", {{"uid", pod.uid}}}};
  const auto response = client_.call(
      {.method = "DELETE", .path = *path, .body = options.dump(), .finish = true}, stopper);
  // Another one may have its name by now.
  return response && (response->ok() || response->status == 404 || response->status == 409);
}

Result<std::string> TrialPods::log(const std::string& pod, net::Stopper& stopper) {
  ASSAY_TRY(
      const std::string path,
      kubeapi::object_path({.resource = kubeapi::pods(), .name_space = name_space_, .name = pod}));
  ASSAY_TRY(
      net::Response response,
      client_.call({.path = fmt::format("{}/log?timestamps=true&tailLines={}", path, kMostLines)},
                   stopper));
  if (!response.ok())
    return refused(fmt::format("the log of {} cannot be read (status {})", pod, response.status));
  return std::move(response.body);
}

}  // namespace assay::cluster
