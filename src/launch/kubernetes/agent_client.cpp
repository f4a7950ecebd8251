// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/agent_client.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/base/wording.h>
#include <assay/kubeapi/json_at.h>

namespace assay::launch {
namespace {

using std::chrono::steady_clock;

/// What the manifests of the agent call the token that it wants to see.
constexpr const char* kTokenSecret = "assay-reader";

std::string prefix_of(const JobSettings& settings, const AgentPlace& place) {
  if (place.pod.empty()) return "";
  return fmt::format("/api/v1/namespaces/{}/pods/{}:{}/proxy",
                     net::url_encoded(settings.agent_namespace), net::url_encoded(place.pod),
                     settings.agent_port);
}

kubeapi::Access access_of(const JobSettings& settings, const AgentPlace& place) {
  if (!place.pod.empty()) return settings.access;
  kubeapi::Access direct;
  direct.endpoint.base = settings.agent_url;
  return direct;
}

}  // namespace

AgentClient::AgentClient(const JobSettings& settings, AgentPlace place, const Clock& clock)
    : settings_(settings),
      place_(std::move(place)),
      clock_(clock),
      client_(access_of(settings, place_)) {}

AgentClient::Told AgentClient::send(const std::string& path, Milliseconds patience,
                                    net::Stopper& stopper) {
  kubeapi::Call call = {.path = prefix_of(settings_, place_) + path, .patience = patience};
  // The API server keeps "Authorization" for itself.
  if (!place_.token.text.empty()) call.headers.push_back("Assay-Token: " + place_.token.text);
  const Timestamp asked = clock_.now();
  auto response = client_.call(call, stopper);
  return {std::move(response), asked, clock_.now()};
}

bool AgentClient::find_again(Milliseconds patience, net::Stopper& stopper) {
  if (place_.pod.empty()) return false;
  const auto agents =
      client_.pod_states(settings_.agent_namespace, settings_.agent_label, stopper, patience);
  if (!agents) return false;
  const auto found = std::find_if(agents->begin(), agents->end(), [this](const auto& agent) {
    return agent.node == place_.node && agent.ready && agent.name != place_.pod;
  });
  if (found == agents->end()) return false;
  place_.pod = found->name;
  return true;
}

std::string AgentClient::refusal(const net::Response& response) const {
  const std::string said =
      kubeapi::text_at(nlohmann::json::parse(response.body, nullptr, false), "error");
  const bool by_agent = place_.pod.empty() || !said.empty();
  std::string why;
  if (!by_agent && response.status == 401)
    why = "the API server does not know your account; check the token or the certificate";
  else if (!by_agent)
    why = "your account may not; let it get pods/proxy in the agents' namespace";
  else if (place_.token.text.empty())
    why = fmt::format(
        "it wants a token, and there is none to show; give one with --agent-token-file, or let "
        "your account get the secret {} of the agents' namespace {}",
        kTokenSecret, settings_.agent_namespace);
  if (!why.empty()) return fmt::format("the {} cannot be asked: {}", who(), why);
  return fmt::format(
      "the {} refused the token {}{}; give one that is among its `tokens` with --agent-token-file",
      who(), place_.token.from, said.empty() ? "" : ", saying " + in_quotes(said));
}

Result<AgentAnswer> AgentClient::ask(const std::string& container_id, net::Stopper& stopper) {
  const auto failed = [this](const std::string& why) {
    return refused(fmt::format("the {} cannot be asked: {}", who(), why));
  };
  const std::string path = "/api/v1/apps?app=" + net::url_encoded(container_id);
  const auto until = steady_clock::now() + settings_.agent_patience;
  // 0 would be for ever.
  const auto left = [until] {
    return std::max(std::chrono::ceil<Milliseconds>(until - steady_clock::now()), Milliseconds(1));
  };
  Told told = send(path, left(), stopper);
  const auto& response = told.response;
  const bool is_gone = response && (response->status == 404 || response->status >= 500);
  if (is_gone && find_again(left(), stopper)) told = send(path, left(), stopper);
  if (!response) return failed(response.error().message);
  if (response->status == 401 || response->status == 403) return refused(refusal(*response));
  if (!response->ok()) return failed(fmt::format("it answers with status {}", response->status));
  const auto answer = read_agent_answer(response->body, container_id);
  if (!answer) return failed(answer.error().message);
  offset_.add(told.asked, told.answered, answer->time);
  return *answer;
}

AgentToken find_token(kubeapi::Client& client, const JobSettings& settings, net::Stopper& stopper) {
  if (!settings.agent_token.empty())
    return {settings.agent_token, settings.agent_token_file.empty()
                                      ? "that was given"
                                      : "from " + settings.agent_token_file};
  const auto response =
      client.call({.path = fmt::format("/api/v1/namespaces/{}/secrets/{}",
                                       net::url_encoded(settings.agent_namespace), kTokenSecret)},
                  stopper);
  if (!response || !response->ok()) return {};
  const auto json = nlohmann::json::parse(response->body, nullptr, false);
  const auto token =
      base64_decoded(kubeapi::text_at(kubeapi::at(json, "data"), "token")).value_or("");
  if (token.find_first_of("\r\n") != token.npos) return {};
  return {token,
          fmt::format("of the secret {} in namespace {}", kTokenSecret, settings.agent_namespace)};
}

}  // namespace assay::launch
