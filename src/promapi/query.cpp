// SPDX-License-Identifier: Apache-2.0
#include "authorization.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include <assay/base/text.h>
#include <assay/net/http_client.h>
#include <assay/promapi/query.h>

namespace assay::promapi {
namespace {

using nlohmann::json;

/// "12.5", "NaN", "+Inf".
std::optional<double> number_of(const json& text) {
  if (!text.is_string()) return std::nullopt;
  std::string_view digits = text.get_ref<const std::string&>();
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<InstantValue> value_of(const json& series) {
  const auto labels = series.find("metric");
  const auto value = series.find("value");
  if (labels == series.end() || !labels->is_object() || value == series.end() ||
      !value->is_array() || value->size() != 2)
    return std::nullopt;
  InstantValue result;
  for (const auto& [name, text] : labels->items()) {
    if (!text.is_string()) return std::nullopt;
    result.labels[name] = text.get<std::string>();
  }
  const auto number = number_of((*value)[1]);
  if (!number) return std::nullopt;
  result.value = *number;
  return result;
}

/// Of what is no answer, the words that say why.
std::string complaint(const json& document) {
  if (document.is_object() && document.contains("error") && document["error"].is_string())
    return document["error"].get<std::string>();
  return "this is no Prometheus";
}

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

}  // namespace

const std::string& InstantValue::label(const std::string& name) const {
  static const std::string kNone;
  const auto found = labels.find(name);
  return found == labels.end() ? kNone : found->second;
}

Result<InstantAnswer> parse_instant(const std::string& body, const std::string& who) {
  const auto document = json::parse(body, nullptr, false);
  const bool ok = document.is_object() && document.value("status", json()) == "success";
  const json data = ok ? document.value("data", json()) : json();
  if (!data.is_object() || data.value("resultType", json()) != "vector" ||
      !data.value("result", json()).is_array())
    return refused(fmt::format("{}: {}", who, complaint(document)));
  InstantAnswer answer;
  for (const auto& series : data["result"]) {
    auto value = value_of(series);
    if (!value) return refused(fmt::format("{}: a series of its answer is none", who));
    answer.series.push_back(std::move(*value));
  }
  const json warnings = document.value("warnings", json());
  for (const auto& warning : warnings) {
    if (warning.is_string()) answer.warnings.push_back(warning.get<std::string>());
  }
  return answer;
}

struct Queries::State {
  PrometheusAccess access;
  std::string who;
  net::HttpClient client;
};

Queries::Queries(PrometheusAccess access) {
  access.url = without_slash(access.url);
  net::HttpClient client({.base = access.url, .ca_file = access.ca_file});
  const std::string who = fmt::format("Prometheus at {}", net::shown_url(access.url));
  state_ = std::make_unique<State>(State{std::move(access), who, std::move(client)});
}
Queries::Queries(Queries&&) noexcept = default;
Queries& Queries::operator=(Queries&&) noexcept = default;
Queries::~Queries() = default;

Result<InstantAnswer> Queries::instant(const std::string& expression, net::Stopper* stopper) {
  net::Request request;
  request.path = "/api/v1/query?query=" + net::url_encoded(expression);
  request.timeout = state_->access.timeout;
  ASSAY_TRY(const auto header,
            authorization(state_->access.bearer_token_file, state_->access.basic_auth_file));
  if (!header.empty()) request.headers.push_back(header);
  const auto response = state_->client.send(request, stopper);
  if (!response)
    return fail({response.error().kind,
                 fmt::format("{}: {}", state_->who, response.error().message),
                 response.error().temporary});
  if (response->status == 401 || response->status == 403)
    return refused(fmt::format("{} wants to know who asks ({}); name a token or a user file",
                               state_->who, response->status));
  return parse_instant(response->body, state_->who);
}

}  // namespace assay::promapi
