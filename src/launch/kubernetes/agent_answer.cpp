// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/agent_answer.h"

#include <cmath>

#include <assay/kubeapi/json_at.h>

namespace assay::launch {
namespace {

using kubeapi::at;
using kubeapi::text_at;

using Json = nlohmann::json;

constexpr size_t kMostReports = 1000;
constexpr size_t kMostBuckets = 5000;

std::optional<double> number_of(const Json& json) {
  const double value = json.is_number() ? json.get<double>() : NAN;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<Timestamp> time_at(const Json& json, const char* key) {
  const Json& value = at(json, key);
  // Far from where sums of times would overflow.
  constexpr uint64_t kLast = 4'000'000'000'000'000'000;  // 2096
  if (!value.is_number_unsigned() || value.get<uint64_t>() > kLast) return std::nullopt;
  return from_unix_ns(value.get<int64_t>());
}

std::map<double, uint64_t> read_durations(const Json& json) {
  std::map<double, uint64_t> durations;
  if (!json.is_array()) return durations;
  for (const auto& bucket : json) {
    if (durations.size() == kMostBuckets) break;
    if (!bucket.is_array() || bucket.size() != 2 || !bucket[1].is_number_unsigned()) continue;
    const auto seconds = number_of(bucket[0]);
    if (seconds && *seconds >= 0) durations[*seconds] = bucket[1].get<uint64_t>();
  }
  return durations;
}

std::vector<AgentReport> read_reports(const Json& json) {
  std::vector<AgentReport> reports;
  if (!json.is_object()) return reports;
  for (const auto& [name, report] : json.items()) {
    const auto time = time_at(report, "unix_ns");
    if (!time || reports.size() == kMostReports) continue;
    reports.push_back({name, text_at(report, "unit"), text_at(report, "kind"),
                       number_of(at(report, "value")), *time,
                       read_durations(at(report, "durations"))});
  }
  return reports;
}

bool is_true(const Json& json) {
  return json.is_boolean() && json.get<bool>();
}

Result<AgentApp> read_app(const Json& json) {
  AgentApp app;
  const auto read = time_at(json, "read_unix_ns");
  if (!read || !at(json, "totals").is_object())
    return refused("it is of an older version, which does not tell counters; update the agent");
  app.read = *read;
  app.started = time_at(json, "started_unix_ns").value_or(*read);
  app.running = is_true(at(json, "running"));
  app.lower_bound = is_true(at(json, "lower_bound"));
  for (const auto& [name, total] : at(json, "totals").items())
    if (const auto value = number_of(total)) app.totals[name] = *value;
  app.reports = read_reports(at(json, "reported"));
  return app;
}

}  // namespace

void add_used(const AgentApp& app, Exit& exit) {
  const auto total = [&](const char* name) -> std::optional<double> {
    const auto found = app.totals.find(name);
    return found == app.totals.end() ? std::nullopt : std::optional(found->second);
  };
  exit.user_seconds = total("cpu_user_seconds_total");
  exit.system_seconds = total("cpu_system_seconds_total");
  exit.oom_killed = exit.oom_killed || total("oom_kills").value_or(0) > 0;
}

Result<AgentAnswer> read_agent_answer(std::string_view text, const std::string& container_id) {
  const Json json = Json::parse(text, nullptr, false);
  const Json& apps = at(json, "apps");
  if (!apps.is_array()) return refused("what answers is no agent of Assay");
  const auto time = time_at(json, "unix_ns");
  if (!time)
    return refused("it is of an older version, which does not tell its time; update the agent");
  AgentAnswer answer = {.time = *time, .node = text_at(at(json, "node"), "name")};
  for (const auto& app : apps) {
    if (container_id.empty() || text_at(app, "container_id") != container_id) continue;
    ASSAY_TRY(answer.app, read_app(app));
  }
  return answer;
}

}  // namespace assay::launch
