// SPDX-License-Identifier: Apache-2.0
#include "pod_state.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/letters.h>
#include <assay/base/text.h>
#include <assay/kubeapi/json_at.h>

namespace assay::kubeapi {
namespace {

using Json = nlohmann::json;

/// Reasons for which a container waits that do not go away by waiting.
constexpr std::array<std::string_view, 6> kHopeless = {
    "ImagePullBackOff",     "InvalidImageName",           "ErrImageNeverPull",
    "CreateContainerError", "CreateContainerConfigError", "RunContainerError"};
constexpr size_t kLongest = 500;

/// "ErrImagePull: not found", or what there is of it.
std::string reason_of(const Json& json) {
  std::string reason = text_at(json, "reason");
  const std::string message = text_at(json, "message").substr(0, kLongest);
  if (!reason.empty() && !message.empty()) reason += ": ";
  return reason + message;
}

/// The end of its log may stand for what a container tells of its end: the last line says most.
std::string last_line(std::string_view text) {
  text = trim(text);
  const size_t before = text.rfind('\n');
  if (before != text.npos) text.remove_prefix(before + 1);
  return printable(trim(text).substr(0, kLongest));
}

void read_conditions(const Json& conditions, PodState& state) {
  if (!conditions.is_array()) return;
  for (const auto& condition : conditions) {
    const std::string type = text_at(condition, "type");
    const bool holds = text_at(condition, "status") == "True";
    if (type == "Ready") state.ready = holds;
    if (type == "PodScheduled" && !holds) state.trouble = reason_of(condition);
  }
}

void read_container(const Json& status, PodState& state) {
  const Json& container = at(status, "state");
  const Json& waiting = at(container, "waiting");
  if (waiting.is_object()) {
    state.trouble = reason_of(waiting);
    state.over = std::find(kHopeless.begin(), kHopeless.end(), text_at(waiting, "reason")) !=
                 kHopeless.end();
  }
  const Json& ended = at(container, "terminated");
  if (!ended.is_object()) return;
  const Json& code = at(ended, "exitCode");
  const std::string words = last_line(text_at(ended, "message"));
  state.over = true;
  state.trouble =
      fmt::format("it ended with {} ({}{}{})", code.is_number_integer() ? code.get<int64_t>() : 0,
                  text_at(ended, "reason"), words.empty() ? "" : ": ", words);
}

std::map<std::string, std::string> texts_of(const Json& json) {
  std::map<std::string, std::string> texts;
  if (!json.is_object()) return texts;
  for (const auto& [name, value] : json.items())
    if (value.is_string()) texts.emplace(name, value.get<std::string>());
  return texts;
}

/// Without a uid it is none.
PodState state_of(const Json& json) {
  const Json& metadata = at(json, "metadata");
  PodState state{.name = text_at(metadata, "name"),
                 .uid = text_at(metadata, "uid"),
                 .node = text_at(at(json, "spec"), "nodeName"),
                 .created = parse_utc(text_at(metadata, "creationTimestamp")),
                 .labels = texts_of(at(metadata, "labels")),
                 .annotations = texts_of(at(metadata, "annotations"))};
  const Json& status = at(json, "status");
  read_conditions(at(status, "conditions"), state);
  if (const Json& containers = at(status, "containerStatuses"); containers.is_array())
    for (const auto& one : containers) read_container(one, state);
  const std::string phase = text_at(status, "phase");
  if ((phase == "Failed" || phase == "Succeeded") && !state.over) {
    state.over = true;
    state.trouble = reason_of(status);
  }
  return state;
}

}  // namespace

Result<PodState> read_pod_state(std::string_view text) {
  PodState state = state_of(Json::parse(text, nullptr, false));
  if (state.uid.empty()) return refused("what the API server answers is no pod");
  return state;
}

Result<std::string> read_pod_states(std::string_view text, std::vector<PodState>& into) {
  const Json json = Json::parse(text, nullptr, false);
  const Json& items = at(json, "items");
  // A list without pods has no items in some versions.
  if (!at(json, "metadata").is_object() || !(items.is_array() || items.is_null()))
    return refused("the API server's answer is no list of pods");
  for (const auto& item : items) {
    PodState state = state_of(item);
    if (!state.uid.empty()) into.push_back(std::move(state));
  }
  return text_at(at(json, "metadata"), "continue");
}

}  // namespace assay::kubeapi
