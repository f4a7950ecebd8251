// SPDX-License-Identifier: Apache-2.0
#include "pod_json.h"
#include "pod_state.h"
#include "resize_patch.h"
#include "watch_lines.h"

#include <fmt/format.h>
#include <iterator>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/kubeapi/client.h>

namespace assay::kubeapi {
namespace {

constexpr size_t kLargestAnswer = 32U << 20U;
constexpr size_t kLargestToken = 64U << 10U;
constexpr Milliseconds kPatience{30'000};
/// Somebody waits for it, perhaps to end.
constexpr Milliseconds kResizePatience{5'000};
/// How servers word that they do not know a part of pods, and that a role lacks it.
constexpr std::string_view kNoSuchResource = "could not find the requested resource";
constexpr std::string_view kNoRole = "cannot patch resource";
/// The server ends a watch in time; when it does not, the connection is dead.
constexpr Milliseconds kBeyondWatch{20'000};
constexpr size_t kMostPages = 1000;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr int kGone = 410;

std::string selector(const PodQuery& query) {
  if (query.node.empty()) return "";
  return "&fieldSelector=" + net::url_encoded("spec.nodeName=" + query.node);
}

std::string path_of(const PodName& pod) {
  return fmt::format("/api/v1/namespaces/{}/pods/{}", net::url_encoded(pod.name_space),
                     net::url_encoded(pod.name));
}
std::string path_of(const Resize& pod) {
  return path_of(PodName{pod.name_space, pod.pod});
}

std::string what_to_do(int status, bool reading) {
  if (status == 401) return "; check the token or the certificate";
  if (status == kForbidden && reading) return "; let its account get, list and watch pods";
  return "";
}

Failure not_answered(const std::string& server, const net::Response& response,
                     bool reading = true) {
  const std::string said = message_of(response.body);
  const bool temporary = response.status == 429 || response.status >= 500;
  return fail(
      {ErrorKind::environment,
       fmt::format("the API server {} answers {}{}{}{}", net::shown_url(server), response.status,
                   said.empty() ? "" : ": ", said, what_to_do(response.status, reading)),
       temporary});
}

}  // namespace

Client::Client(Access access) : access_(std::move(access)), http_(access_.endpoint) {}

Result<net::Request> Client::request(std::string path) const {
  net::Request request;
  request.path = std::move(path);
  request.timeout = kPatience;
  request.headers.emplace_back("Accept: application/json");
  std::string token = access_.token;
  if (!access_.token_file.empty()) {
    ASSAY_TRY(const std::string text, read_file(access_.token_file, kLargestToken));
    token = trim(text);
  }
  if (token.find_first_of("\r\n") != token.npos)
    return bad_input("the token for the API server has to be one line");
  if (!token.empty()) request.headers.push_back("Authorization: Bearer " + token);
  request.still_wanted = wanted_;
  return request;
}

Result<net::Response> Client::ask(const net::Request& request, net::Stopper& stopper) {
  std::string body;
  const auto take = [&](std::string_view piece) {
    body += piece;
    return body.size() <= kLargestAnswer;
  };
  ASSAY_TRY(net::Response response, http_.stream(request, take, &stopper));
  if (stopper.stopped() || (request.still_wanted && !request.still_wanted()))
    return refused("stopped");
  if (body.size() > kLargestAnswer)
    return refused(fmt::format("the answer of the API server {} is larger than {}",
                               net::shown_url(server()),
                               format_bytes(static_cast<double>(kLargestAnswer))));
  if (response.ok()) response.body = std::move(body);
  return response;
}

Result<std::string> Client::get(const std::string& path, Milliseconds patience,
                                net::Stopper& stopper) {
  ASSAY_TRY(net::Request asked, request(path));
  asked.timeout = patience;
  ASSAY_TRY(net::Response response, ask(asked, stopper));
  if (!response.ok()) return not_answered(server(), response);
  return std::move(response.body);
}

Result<net::Response> Client::order(const std::string& method, const std::string& path,
                                    const std::string& body, Milliseconds patience,
                                    net::Stopper& stopper) {
  ASSAY_TRY(net::Request asked, request(path));
  asked.method = method;
  asked.timeout = patience;
  asked.body = body;
  // What was ordered and not heard of would stay for ever.
  if (method == "DELETE" || path.ends_with("/pods")) asked.still_wanted = {};
  if (!body.empty()) asked.headers.emplace_back("Content-Type: application/json");
  return ask(asked, stopper);
}

Result<void> Client::create_pod(const std::string& name_space, const std::string& manifest,
                                net::Stopper& stopper) {
  const std::string path = fmt::format("/api/v1/namespaces/{}/pods", net::url_encoded(name_space));
  ASSAY_TRY(const net::Response response, order("POST", path, manifest, kPatience, stopper));
  if (!response.ok()) return not_answered(server(), response, false);
  return {};
}

Result<PodState> Client::pod_state(const PodName& pod, net::Stopper& stopper) {
  ASSAY_TRY(const net::Response response, order("GET", path_of(pod), "", kPatience, stopper));
  if (response.status == kNotFound)
    return bad_input(fmt::format("there is no pod {} in {}", pod.name, pod.name_space));
  if (!response.ok()) return not_answered(server(), response);
  return read_pod_state(response.body);
}

Result<std::vector<PodState>> Client::pod_states(const std::string& name_space,
                                                 const std::string& label, net::Stopper& stopper) {
  std::vector<PodState> all;
  std::string next;
  size_t pages = 0;
  do {
    ASSAY_TRY(
        const std::string body,
        get(fmt::format("/api/v1/namespaces/{}/pods?limit={}&labelSelector={}{}{}",
                        net::url_encoded(name_space), PodQuery().page, net::url_encoded(label),
                        next.empty() ? "" : "&continue=", net::url_encoded(next)),
            kPatience, stopper));
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
  const std::string only = fmt::format(R"({{"preconditions": {{"uid": "{}"}}}})", uid);
  ASSAY_TRY(const net::Response response, order("DELETE", path_of(pod), only, kPatience, stopper));
  if (!response.ok() && response.status != kNotFound)
    return not_answered(server(), response, false);
  return {};
}

Result<std::string> Client::ask_pod(const PodName& pod, int port, const std::string& path,
                                    const std::string& body, Milliseconds patience,
                                    net::Stopper& stopper) {
  const std::string proxy = fmt::format("{}:{}/proxy{}", path_of(pod), port, path);
  ASSAY_TRY(net::Response response, order("POST", proxy, body, patience, stopper));
  if (response.status == kForbidden)
    return refused(
        fmt::format("the API server {} does not let us ask pods: let the account create pods/proxy",
                    net::shown_url(server())));
  return std::move(response.body);
}

Result<PodList> Client::list(const PodQuery& query, net::Stopper& stopper) {
  PodList list;
  std::string next;
  // Also pages are counted: a server that sends empty ones for ever has an end too.
  size_t taken = 0;
  do {
    ASSAY_TRY(const std::string body,
              get(fmt::format("/api/v1/pods?limit={}{}{}{}", query.page, selector(query),
                              next.empty() ? "" : "&continue=", net::url_encoded(next)),
                  kPatience, stopper));
    ASSAY_TRY(PodPage page, read_page(body));
    taken += page.pods.size() + 1;
    if (taken > kMostPods)
      return refused(
          fmt::format("the API server has more than {} pods for us; name a node", kMostPods));
    std::move(page.pods.begin(), page.pods.end(), std::back_inserter(list.pods));
    list.version = std::move(page.version);
    next = std::move(page.next);
  } while (!next.empty());
  return list;
}

Result<WatchEnd> Client::watch(const PodQuery& query, const std::string& version, const Take& take,
                               net::Stopper& stopper) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(query.watch);
  ASSAY_TRY(net::Request asked,
            request(fmt::format("/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds={}"
                                "&resourceVersion={}{}",
                                seconds.count(), net::url_encoded(version), selector(query))));
  asked.timeout = query.watch + kBeyondWatch;
  WatchLines lines;
  Result<WatchEnd> end = WatchEnd::ended;
  const auto take_line = [&](std::string_view line) {
    const auto event = read_event(line);
    if (!event) {
      end = fail(event.error());
    } else if (event->kind == WatchEvent::Kind::expired) {
      end = WatchEnd::expired;
    } else if (event->kind == WatchEvent::Kind::failed) {
      end = refused(fmt::format("the API server ended the watch: {}", event->message));
    } else {
      take(*event);
      return true;
    }
    return false;
  };
  const auto take_piece = [&](std::string_view piece) {
    const auto goes_on = lines.feed(piece, take_line);
    if (!goes_on) end = fail(goes_on.error());
    return goes_on && *goes_on;
  };
  ASSAY_TRY(const net::Response response, http_.stream(asked, take_piece, &stopper));
  if (response.status == kGone) return WatchEnd::expired;
  if (!response.ok() && !stopper.stopped()) return not_answered(server(), response);
  return end;
}

Result<net::Response> Client::patch(const Resize& of, const std::string& body,
                                    net::Stopper& stopper) {
  ASSAY_TRY(net::Request asked, request(path_of(of) + "/resize"));
  asked.method = "PATCH";
  asked.headers.emplace_back("Content-Type: application/strategic-merge-patch+json");
  asked.body = body;
  asked.timeout = kResizePatience;
  return ask(asked, stopper);
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
  return not_answered(server(), response, false);
}

Result<void> Client::resize_back(const Resize& done, const std::string& undo,
                                 net::Stopper& stopper) {
  ASSAY_TRY(const net::Response response, patch(done, undo, stopper));
  if (!response.ok()) return not_answered(server(), response, false);
  return {};
}

}  // namespace assay::kubeapi
