// SPDX-License-Identifier: Apache-2.0
#include "answers.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
#include <assay/base/wording.h>
#include <assay/kubeapi/json_at.h>

namespace assay::kubeapi {
namespace {

constexpr uint64_t kLongestRest = 300;
/// Quotas and policies tell much, and what matters last.
constexpr size_t kLongestMessage = 1000;

std::string what_to_do(int status, const std::string& needed) {
  if (status == 401) return "; check the token or the certificate";
  if (status == kForbidden && !needed.empty()) return "; let its account " + needed;
  return "";
}

}  // namespace

std::string message_of(std::string_view status) {
  const std::string message = text_at(nlohmann::json::parse(status, nullptr, false), "message");
  return message.empty() ? "" : in_quotes(message, kLongestMessage);
}

std::string refusal_of(const std::string& server, const net::Response& response,
                       const std::string& needed) {
  const std::string said = message_of(response.body);
  return fmt::format("the API server {} answers {}{}{}{}", net::shown_url(server), response.status,
                     said.empty() ? "" : ": ", said, what_to_do(response.status, needed));
}

Failure not_answered(const std::string& server, const net::Response& response,
                     const std::string& needed) {
  const bool temporary = response.status == kTooMany || response.status >= 500;
  return fail({ErrorKind::environment, refusal_of(server, response, needed), temporary});
}

Failure no_kubernetes(const std::string& server, const std::string& why) {
  return refused(fmt::format(
      "what answers at {} is no API server of Kubernetes: {}; check the server that the "
      "kubeconfig names",
      net::shown_url(server), why));
}

Milliseconds retry_after(const net::Response& response) {
  if (response.status != kTooMany && response.status < 500) return Milliseconds(0);
  const auto told = parse_uint(trim(response.header("retry-after")));
  return std::chrono::seconds(std::min(told.value_or(0), kLongestRest));
}

}  // namespace assay::kubeapi
