// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/job_pod.h"

#include "docker/container_app.h"
#include "process/exit_text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include <assay/kubeapi/json_at.h>

namespace assay::launch {
namespace {

using kubeapi::at;
using kubeapi::text_at;

using Json = nlohmann::json;

/// Reasons for which a container waits that do not go away by waiting.
constexpr std::array<std::string_view, 7> kHopeless = {
    "ImagePullBackOff",     "InvalidImageName",           "ErrImageNeverPull", "ErrImagePull",
    "CreateContainerError", "CreateContainerConfigError", "RunContainerError"};
constexpr size_t kLongest = 500;

/// Cut before a character, not in it.
std::string shortened(std::string text) {
  if (text.size() <= kLongest) return text;
  size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  text.resize(end);
  return text;
}

/// "Unschedulable: 0/1 nodes are available", or what there is of it.
std::string reason_of(const Json& json) {
  std::string reason = text_at(json, "reason");
  const std::string message = shortened(text_at(json, "message"));
  if (!reason.empty() && !message.empty()) reason += ": ";
  return reason + message;
}

/// "docker://0123…" or "containerd://0123…".
std::string id_of(const std::string& text) {
  const size_t at = text.find("://");
  return at == text.npos ? text : text.substr(at + 3);
}

void read_ended(const Json& ended, JobPod& pod) {
  pod.state = JobPod::State::ended;
  pod.trouble.clear();
  pod.started = parse_utc(text_at(ended, "startedAt"));
  pod.ended = parse_utc(text_at(ended, "finishedAt"));
  pod.reason = text_at(ended, "reason");
  if (const Json& code = at(ended, "exitCode"); code.is_number_integer())
    pod.code = code.get<int>();
  if (pod.container_id.empty()) pod.container_id = id_of(text_at(ended, "containerID"));
  // "ContainerCannotRun" has the runtime's own words.
  if (pod.reason == "ContainerCannotRun" || pod.reason == "StartError") {
    pod.state = JobPod::State::hopeless;
    pod.trouble = reason_of(ended);
  }
}

void read_container(const Json& status, JobPod& pod) {
  pod.container_id = id_of(text_at(status, "containerID"));
  const Json& state = at(status, "state");
  if (const Json& running = at(state, "running"); running.is_object()) {
    pod.state = JobPod::State::running;
    pod.trouble.clear();
    pod.started = parse_utc(text_at(running, "startedAt"));
  }
  if (const Json& waiting = at(state, "waiting"); waiting.is_object()) {
    pod.trouble = reason_of(waiting);
    if (std::find(kHopeless.begin(), kHopeless.end(), text_at(waiting, "reason")) !=
        kHopeless.end())
      pod.state = JobPod::State::hopeless;
  }
  if (const Json& ended = at(state, "terminated"); ended.is_object()) read_ended(ended, pod);
}

JobPod read_pod(const Json& json) {
  JobPod pod;
  pod.state = JobPod::State::waiting;
  pod.name = text_at(at(json, "metadata"), "name");
  pod.node = text_at(at(json, "spec"), "nodeName");
  pod.deleted = !text_at(at(json, "metadata"), "deletionTimestamp").empty();
  const Json& status = at(json, "status");
  if (const Json& conditions = at(status, "conditions"); conditions.is_array()) {
    for (const auto& condition : conditions)
      if (text_at(condition, "type") == "PodScheduled" && text_at(condition, "status") == "False")
        pod.trouble = reason_of(condition);
  }
  if (const Json& containers = at(status, "containerStatuses"); containers.is_array())
    for (const auto& one : containers) read_container(one, pod);
  const std::string phase = text_at(status, "phase");
  if (phase == "Failed" &&
      (pod.state == JobPod::State::waiting || !text_at(status, "reason").empty())) {
    // Its node did not take it ("OutOfcpu"), or threw it out ("Evicted", "DeadlineExceeded").
    const bool never_ran = pod.container_id.empty();
    pod.state = never_ran ? JobPod::State::hopeless : JobPod::State::ended;
    pod.trouble = reason_of(status);
    pod.reason = text_at(status, "reason");
  }
  return pod;
}

}  // namespace

Result<JobPod> read_job_pod(std::string_view list, const std::string& name) {
  const Json json = Json::parse(list, nullptr, false);
  const Json& items = at(json, "items");
  if (!json.is_object() || !(items.is_array() || items.is_null()))
    return refused("the API server's answer is no list of pods");
  const Json* newest = nullptr;
  for (const auto& item : items) {
    if (!name.empty() && text_at(at(item, "metadata"), "name") != name) continue;
    const auto created = [](const Json& pod) {
      return text_at(at(pod, "metadata"), "creationTimestamp");
    };
    if (newest == nullptr || created(item) > created(*newest)) newest = &item;
  }
  return newest == nullptr ? JobPod() : read_pod(*newest);
}

Exit exit_of(const JobPod& pod, std::optional<uint64_t> memory_limit) {
  Exit exit;
  if (pod.state == JobPod::State::unseen) {
    exit.detail = fmt::format("given up: {}", pod.trouble);
    return exit;
  }
  exit.oom_killed = pod.reason == "OOMKilled";
  if (pod.code) {
    set_exit_code(exit, *pod.code);
    exit.detail = exit_detail(exit, memory_limit);
  } else {
    exit.detail = "ended; its exit code is not known";
  }
  if (!pod.trouble.empty()) exit.detail += fmt::format("; the cluster says: {}", pod.trouble);
  return exit;
}

std::string why_no_pod(std::string_view events) {
  const Json json = Json::parse(events, nullptr, false);
  const Json& items = at(json, "items");
  std::string why;
  if (!items.is_array()) return why;
  for (const auto& event : items) {
    if (text_at(event, "type") == "Warning" && text_at(event, "reason") == "FailedCreate")
      why = shortened(text_at(event, "message"));
  }
  return why;
}

}  // namespace assay::launch
