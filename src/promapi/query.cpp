// SPDX-License-Identifier: Apache-2.0
#include "authorization.h"

#include <algorithm>
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

constexpr int kTooMany = 429;

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

std::optional<std::map<std::string, std::string>> labels_of(const json& series) {
  const auto labels = series.find("metric");
  if (labels == series.end() || !labels->is_object()) return std::nullopt;
  std::map<std::string, std::string> result;
  for (const auto& [name, text] : labels->items()) {
    if (!text.is_string()) return std::nullopt;
    result[name] = text.get<std::string>();
  }
  return result;
}

std::optional<InstantValue> value_of(const json& series) {
  auto labels = labels_of(series);
  const auto value = series.find("value");
  if (!labels || value == series.end() || !value->is_array() || value->size() != 2)
    return std::nullopt;
  const auto number = number_of((*value)[1]);
  if (!number) return std::nullopt;
  return InstantValue{std::move(*labels), *number};
}

/// Prometheus writes times with at most three decimals.
Timestamp time_of(double seconds) {
  return from_unix_ns(std::llround(seconds * 1000) * 1'000'000);
}

std::optional<RangeSeries> samples_of(const json& series) {
  auto labels = labels_of(series);
  const auto values = series.find("values");
  if (!labels || values == series.end() || !values->is_array()) return std::nullopt;
  RangeSeries result{std::move(*labels), {}};
  for (const auto& pair : *values) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number()) return std::nullopt;
    const auto seconds = pair[0].get<double>();
    const auto number = number_of(pair[1]);
    if (!number || !(std::abs(seconds) < 1e11)) return std::nullopt;
    if (!result.samples.empty() && time_of(seconds) <= result.samples.back().first)
      return std::nullopt;
    result.samples.emplace_back(time_of(seconds), *number);
  }
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

namespace {

/// Whether it was asked what makes no sense, and not the server that cannot answer.
bool is_bad_question(const json& document) {
  return document.is_object() && document.value("errorType", json()) == "bad_data";
}

/// As Prometheus says it, and not what stands before it.
bool is_own_refusal(const std::string& body) {
  const auto document = json::parse(body, nullptr, false);
  return document.is_object() && document.value("status", json()) == "error";
}

/// The answer's series and warnings, when it is one of that type.
template <class Answer, class Read>
Result<Answer> parse_answer(const std::string& body, const std::string& who, const char* type,
                            Read read) {
  const auto document = json::parse(body, nullptr, false);
  const bool ok = document.is_object() && document.value("status", json()) == "success";
  const json data = ok ? document.value("data", json()) : json();
  if (!data.is_object() || data.value("resultType", json()) != type ||
      !data.value("result", json()).is_array())
    return fail(is_bad_question(document) ? ErrorKind::input : ErrorKind::environment,
                fmt::format("{}: {}", who, complaint(document)));
  Answer answer;
  for (const auto& series : data["result"]) {
    auto one = series.is_object() ? read(series) : std::nullopt;
    if (!one) return refused(fmt::format("{}: a series of its answer is none", who));
    answer.series.push_back(std::move(*one));
  }
  const json warnings = document.value("warnings", json());
  for (const auto& warning : warnings) {
    if (warning.is_string()) answer.warnings.push_back(warning.get<std::string>());
  }
  return answer;
}

/// Puts a later piece behind what there is.
void append(RangeAnswer& answer, RangeAnswer piece) {
  for (auto& series : piece.series) {
    const auto same = std::find_if(answer.series.begin(), answer.series.end(),
                                   [&](const auto& one) { return one.labels == series.labels; });
    if (same == answer.series.end()) {
      answer.series.push_back(std::move(series));
      continue;
    }
    same->samples.insert(same->samples.end(), series.samples.begin(), series.samples.end());
  }
  for (auto& warning : piece.warnings)
    if (std::find(answer.warnings.begin(), answer.warnings.end(), warning) == answer.warnings.end())
      answer.warnings.push_back(std::move(warning));
}

std::string seconds_text(Nanoseconds time) {
  return fmt::format("{:.3f}", seconds(time));
}

}  // namespace

Result<InstantAnswer> parse_instant(const std::string& body, const std::string& who) {
  return parse_answer<InstantAnswer>(body, who, "vector", value_of);
}
Result<RangeAnswer> parse_range(const std::string& body, const std::string& who) {
  return parse_answer<RangeAnswer>(body, who, "matrix", samples_of);
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

Result<std::string> Queries::ask(const std::string& path, net::Stopper* stopper) {
  net::Request request;
  request.path = path;
  request.timeout = state_->access.timeout;
  ASSAY_TRY(const auto header,
            authorization(state_->access.bearer_token_file, state_->access.basic_auth_file));
  if (!header.empty()) request.headers.push_back(header);
  auto response = state_->client.send(request, stopper);
  if (!response)
    return fail({response.error().kind,
                 fmt::format("{}: {}", state_->who, response.error().message),
                 response.error().temporary});
  if (response->status == 401 || response->status == 403)
    return refused(fmt::format("{} wants to know who asks ({}); name a token or a user file",
                               state_->who, response->status));
  if (!response->ok() && !is_own_refusal(response->body))
    return fail({ErrorKind::environment,
                 fmt::format("{} answers with status {}", state_->who, response->status),
                 response->status == kTooMany || response->status >= 500});
  return std::move(response->body);
}

Result<InstantAnswer> Queries::instant(const std::string& expression, net::Stopper* stopper) {
  ASSAY_TRY(const auto body, ask("/api/v1/query?query=" + net::url_encoded(expression), stopper));
  return parse_instant(body, state_->who);
}

Result<RangeAnswer> Queries::range(const std::string& expression, const QueryRange& range,
                                   net::Stopper* stopper) {
  constexpr int64_t kAtOnce = 10'000, kMost = 10'000'000;
  if (range.step.count() <= 0 || range.to < range.from)
    return bad_input("a range needs an end behind its start, and a step");
  const int64_t steps = (range.to - range.from) / range.step + 1;
  if (steps > kMost)
    return bad_input(
        fmt::format("the range has {} steps, more than {}; take longer ones", steps, kMost));
  RangeAnswer answer;
  for (int64_t first = 0; first < steps; first += kAtOnce) {
    const auto at = [&](int64_t step) {
      return seconds_text((range.from + step * range.step).time_since_epoch());
    };
    ASSAY_TRY(const auto body,
              ask(fmt::format("/api/v1/query_range?query={}&start={}&end={}&step={}",
                              net::url_encoded(expression), at(first),
                              at(std::min(steps, first + kAtOnce) - 1), seconds_text(range.step)),
                  stopper));
    ASSAY_TRY(auto piece, parse_range(body, state_->who));
    append(answer, std::move(piece));
  }
  return answer;
}

}  // namespace assay::promapi
