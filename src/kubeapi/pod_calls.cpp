// SPDX-License-Identifier: Apache-2.0
// What Client does with single pods.
#include "answers.h"
#include "pod_state.h"
#include "resize_patch.h"

#include <fmt/format.h>

#include <assay/kubeapi/client.h>
#include <assay/kubeapi/follower.h>

namespace assay::kubeapi {
namespace {

constexpr Milliseconds kPatience{30'000};
/// Somebody waits for it, perhaps to end.
constexpr Milliseconds kResizePatience{5'000};
/// How servers word that they do not know a part of pods, and that a role lacks it.
constexpr std::string_view kNoSuchResource = "could not find the requested resource";
constexpr std::string_view kNoRole = "cannot patch resource";
constexpr size_t kMostPages = 1000;

std::string path_of(const PodName& pod) {
  return fmt::format("/api/v1/namespaces/{}/pods/{}", net::url_encoded(pod.name_space),
                     net::url_encoded(pod.name));
}
std::string path_of(const Resize& pod) {
  return path_of(PodName{pod.name_space, pod.pod});
}

}  // namespace

Result<void> Client::create_pod(const std::string& name_space, const std::string& manifest,
                                net::Stopper& stopper) {
  ASSAY_TRY(const net::Response response, call({.method = "POST",
                                                .path = collection_path(pods(), name_space),
                                                .body = manifest,
                                                .finish = true},
                                               stopper));
  if (!response.ok()) return not_answered(server(), response);
  return {};
}

Result<PodState> Client::pod_state(const PodName& pod, net::Stopper& stopper) {
  ASSAY_TRY(const net::Response response, call({.path = path_of(pod)}, stopper));
  if (response.status == kNotFound)
    return bad_input(fmt::format("there is no pod {} in {}", pod.name, pod.name_space));
  if (!response.ok()) return not_answered(server(), response, "get, list and watch pods");
  return read_pod_state(response.body);
}

Result<std::vector<PodState>> Client::pod_states(const std::string& name_space,
                                                 const std::string& label, net::Stopper& stopper,
                                                 Milliseconds patience) {
  std::vector<PodState> all;
  std::string next;
  size_t pages = 0;
  do {
    ASSAY_TRY(
        const std::string body,
        get(fmt::format("{}?limit={}&labelSelector={}{}{}", collection_path(pods(), name_space),
                        Query().page, net::url_encoded(label),
                        next.empty() ? "" : "&continue=", net::url_encoded(next)),
            patience, stopper));
    ASSAY_TRY(next, read_pod_states(body, all));
    if (all.size() > kMostPods)
      return refused(fmt::format("the API server has more than {} pods for us", kMostPods));
    if (++pages > kMostPages)  // of which some may have none for us
      return refused(fmt::format("the API server has more than {} pages of pods", kMostPages));
  } while (!next.empty());
  return all;
}

Result<std::string> Client::pod_log(const PodName& pod, int lines, net::Stopper& stopper) {
  return get(fmt::format("{}/log?tailLines={}", path_of(pod), lines), kPatience, stopper);
}

Result<void> Client::delete_pod(const PodName& pod, const std::string& uid, net::Stopper& stopper) {
  ASSAY_TRY(const net::Response response,
            call({.method = "DELETE",
                  .path = path_of(pod),
                  .body = fmt::format(R"({{"preconditions": {{"uid": "{}"}}}})", uid),
                  .finish = true},
                 stopper));
  if (!response.ok() && response.status != kNotFound) return not_answered(server(), response);
  return {};
}

Result<std::string> Client::ask_pod(const PodName& pod, int port, const std::string& path,
                                    const std::string& body, Milliseconds patience,
                                    net::Stopper& stopper) {
  ASSAY_TRY(net::Response response,
            call({.method = "POST",
                  .path = fmt::format("{}:{}/proxy{}", path_of(pod), port, path),
                  .body = body,
                  .patience = patience},
                 stopper));
  if (response.status == kForbidden)
    return refused(
        fmt::format("the API server {} does not let us ask pods: let the account create pods/proxy",
                    net::shown_url(server())));
  return std::move(response.body);
}

Result<net::Response> Client::patch(const Resize& of, const std::string& body,
                                    net::Stopper& stopper) {
  return call({.method = "PATCH",
               .path = path_of(of) + "/resize",
               .body = body,
               .content_type = "application/strategic-merge-patch+json",
               .patience = kResizePatience},
              stopper);
}

Result<Resized> Client::resize(const Resize& wanted, net::Stopper& stopper) {
  ASSAY_TRY(const std::string pod, get(path_of(wanted), kResizePatience, stopper));
  if (!runs_container(pod, wanted.container_id))
    return refused(fmt::format("the pod that is called {} is another one by now", wanted.pod));
  const auto patches = resize_patch(pod, wanted);
  if (!patches) return Resized{.why_not = patches.error().message};
  ASSAY_TRY(const net::Response response, patch(wanted, patches->change, stopper));
  if (response.ok()) return Resized{.taken = true, .undo = patches->undo};
  const auto says = [&](std::string_view words) {
    return response.body.find(words) != std::string::npos;
  };
  if (response.status == kNotFound && says(kNoSuchResource))
    return Resized{.why_not = "this cluster cannot change a pod that runs (Kubernetes 1.33 can)"};
  // Also quotas forbid, which is the cluster's word and not to be gone around.
  if (response.status == kForbidden && says(kNoRole))
    return Resized{.why_not = "its account may not: let it patch pods/resize"};
  return not_answered(server(), response);
}

Result<void> Client::resize_back(const Resize& done, const std::string& undo,
                                 net::Stopper& stopper) {
  ASSAY_TRY(const net::Response response, patch(done, undo, stopper));
  if (!response.ok()) return not_answered(server(), response);
  return {};
}

}  // namespace assay::kubeapi
