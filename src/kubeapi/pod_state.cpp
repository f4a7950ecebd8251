// SPDX-License-Identifier: Apache-2.0
#include "pod_state.h"

#include "json_at.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
  state.over = true;
  state.trouble = fmt::format("it ended with {} ({})",
                              code.is_number_integer() ? code.get<int64_t>() : 0, reason_of(ended));
}

}  // namespace

Result<PodState> read_pod_state(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  const Json& metadata = at(json, "metadata");
  PodState state{.uid = text_at(metadata, "uid")};
  if (state.uid.empty()) return refused("what the API server answers is no pod");
  if (const Json& labels = at(metadata, "labels"); labels.is_object()) {
    for (const auto& [name, value] : labels.items())
      if (value.is_string()) state.labels.emplace(name, value.get<std::string>());
  }
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

}  // namespace assay::kubeapi
