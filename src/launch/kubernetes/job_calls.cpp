// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/job_calls.h"

#include "kubernetes/job_manifest.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

#include <assay/kubeapi/follower.h>

namespace assay::launch {
namespace {

using std::chrono::steady_clock;

constexpr useconds_t kPause = 500'000;
constexpr int kForbidden = 403;
constexpr int kTooMany = 429;

}  // namespace

Result<JobPod> find_job_pod(kubeapi::Client& client, const std::string& name_space,
                            const std::string& selector, const std::string& name,
                            net::Stopper& stopper) {
  ASSAY_TRY(const net::Response response,
            client.call({.path = fmt::format("{}?labelSelector={}",
                                             kubeapi::collection_path(kubeapi::pods(), name_space),
                                             net::url_encoded(selector))},
                        stopper));
  if (response.status == kForbidden)
    return refused(fmt::format("your account may not list pods in namespace {}", name_space));
  if (!response.ok())
    return fail({ErrorKind::environment,
                 fmt::format("the API server answers with status {}", response.status),
                 response.status == kTooMany || response.status >= 500});
  return read_job_pod(response.body, name);
}

std::vector<std::string> other_sessions(kubeapi::Client& client, const std::string& name_space,
                                        const std::string& node, const std::string& session,
                                        net::Stopper& stopper) {
  const auto pods = kubeapi::list<kubeapi::Pod>(
      client,
      {.resource = kubeapi::pods(),
       .name_space = name_space,
       .labels = fmt::format("{0},{0}!={1}", kJobSessionLabel, session)},
      stopper);
  std::vector<std::string> found;
  if (!pods || !*pods) return found;
  for (const auto& pod : (*pods)->items) {
    const auto other = pod.labels.find(kJobSessionLabel);
    if (other == pod.labels.end() || pod.node != node || pod.phase != kubeapi::PodPhase::running)
      continue;
    if (std::find(found.begin(), found.end(), other->second) == found.end())
      found.push_back(other->second);
  }
  return found;
}

std::optional<Error> delete_job(kubeapi::Client& client, const kubeapi::ObjectName& job,
                                Milliseconds patience) {
  const auto give_up = steady_clock::now() + patience;
  for (;;) {
    net::Stopper stopper;
    const auto deleted =
        kubeapi::delete_object(client, job, kubeapi::Propagation::background, stopper);
    const auto is = [&](kubeapi::Outcome outcome) {
      return deleted && deleted->outcome == outcome;
    };
    if (is(kubeapi::Outcome::done) || is(kubeapi::Outcome::gone)) return std::nullopt;
    const bool again = is(kubeapi::Outcome::throttled) || (!deleted && deleted.error().temporary);
    if (!again || steady_clock::now() >= give_up)
      return Error{ErrorKind::environment,
                   fmt::format("Job {} could not be deleted: {}; `assay cleanup` does it later",
                               job.name, deleted ? deleted->why : deleted.error().message)};
    ::usleep(kPause);
  }
}

bool kill_pod(kubeapi::Client& client, const kubeapi::PodName& pod, net::Stopper& stopper) {
  const auto response = client.call(
      {.method = "DELETE",
       .path = fmt::format("{}/{}", kubeapi::collection_path(kubeapi::pods(), pod.name_space),
                           net::url_encoded(pod.name)),
       .body = R"({"gracePeriodSeconds": 1})",
       .finish = true},
      stopper);
  return response && response->status != kTooMany && response->status < 500;
}

}  // namespace assay::launch
