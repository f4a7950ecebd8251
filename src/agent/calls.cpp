// SPDX-License-Identifier: Apache-2.0
#include "calls.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
#include <assay/base/wording.h>
#include <assay/samples/goal.h>

namespace assay::agent {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostGoals = 100;
constexpr Nanoseconds kDefaultLength = std::chrono::minutes(1);
constexpr Nanoseconds kLongestLength = std::chrono::hours(1);
constexpr Nanoseconds kLongestCapture = std::chrono::minutes(5);
constexpr double kHighestFrequency = 1000;
constexpr double kMostBytes = 1e18;

using Keys = std::initializer_list<std::string_view>;

/// The object in a body, which may have these keys and no others.
Result<Json> parse_object(const std::string& body, Keys keys) {
  Json json = Json::parse(body, nullptr, false);
  if (!json.is_object())
    return bad_input("the body is no JSON object; write for example {\"app\": \"NAME\", ...}");
  for (const auto& [key, value] : json.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      return bad_input(
          fmt::format("unknown key {}{}", in_quotes(key), suggestion(key, std::span(keys))));
    }
  }
  return json;
}

Result<std::string> app_of(const Json& json) {
  const auto app = json.find("app");
  if (app == json.end() || !app->is_string() || app->get_ref<const std::string&>().empty())
    return bad_input("app: say which one, by its path, container id or name");
  return app->get<std::string>();
}

/// Text, or a number as the text that it would be.
Result<std::string> text_of(const Json& value, const std::string& key) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  return bad_input(fmt::format("{}: must be a number or text", key));
}

struct Span {
  Nanoseconds least;
  Nanoseconds most;
};

Result<Nanoseconds> length_of(const Json& value, const std::string& key, Span span) {
  ASSAY_TRY(const auto text, text_of(value, key));
  const auto length = parse_duration(text);
  if (!length) {
    return bad_input(fmt::format("{}: {} is not a duration; write for example 500ms, 90s or 2m",
                                 key, in_quotes(text)));
  }
  if (*length >= span.least && *length <= span.most) return *length;
  return bad_input(fmt::format("{}: {} is out of range; choose {} to {}", key,
                               format_duration(*length), format_duration(span.least),
                               format_duration(span.most)));
}

Result<double> number_of(const Json& value, const std::string& key, double most) {
  if (value.is_number()) {
    const double number = value.get<double>();
    if (number > 0 && number <= most) return number;
  }
  return bad_input(fmt::format("{}: must be a number above 0 and at most {}", key, most));
}

Result<uint64_t> size_of(const Json& value) {
  ASSAY_TRY(const auto text, text_of(value, "memory"));
  const auto bytes = parse_bytes(text);
  if (bytes && *bytes > 0 && static_cast<double>(*bytes) <= kMostBytes) return *bytes;
  return bad_input(
      fmt::format("memory: {} is not a size; write for example 512MB or 2GiB", in_quotes(text)));
}

Result<std::vector<Goal>> goals_of(const Json& json) {
  const auto list = json.find("goals");
  if (list == json.end() || !list->is_array())
    return bad_input("goals: must be a list; write for example [\"fps >= 10\"], or [] for none");
  if (list->size() > kMostGoals)
    return bad_input(fmt::format("goals: too many; the most is {}", kMostGoals));
  std::vector<Goal> goals;
  for (const auto& item : *list) {
    if (!item.is_string()) return bad_input("goals: each is text; write for example \"fps >= 10\"");
    ASSAY_TRY(auto goal, parse_goal(item.get<std::string>()));
    goals.push_back(std::move(goal));
  }
  return goals;
}

Result<CaptureRequest::Kind> kind_of(const Json& value) {
  constexpr std::array<std::string_view, 2> kKinds = {"stacks", "gpu_kernels"};
  if (value == kKinds[0]) return CaptureRequest::Kind::stacks;
  if (value == kKinds[1]) return CaptureRequest::Kind::gpu_kernels;
  return bad_input("kind: must be \"stacks\" or \"gpu_kernels\"");
}

}  // namespace

Result<GoalsCall> parse_goals_call(const std::string& body) {
  ASSAY_TRY(const auto json, parse_object(body, {"app", "goals"}));
  GoalsCall call;
  ASSAY_TRY(call.app, app_of(json));
  ASSAY_TRY(call.goals, goals_of(json));
  return call;
}

Result<LimitsCall> parse_limits_call(const std::string& body) {
  ASSAY_TRY(const auto json, parse_object(body, {"app", "cores", "memory"}));
  LimitsCall call;
  ASSAY_TRY(call.app, app_of(json));
  if (json.contains("cores")) {
    ASSAY_TRY(call.change.cores, number_of(json["cores"], "cores", 4096));
  }
  if (json.contains("memory")) {
    ASSAY_TRY(call.change.memory_bytes, size_of(json["memory"]));
  }
  if (call.change == LimitChange())
    return bad_input("nothing to change; give cores, memory or both");
  return call;
}

Result<IntervalCall> parse_interval_call(const std::string& body) {
  ASSAY_TRY(const auto json, parse_object(body, {"app", "interval", "for"}));
  IntervalCall call;
  ASSAY_TRY(call.app, app_of(json));
  ASSAY_TRY(const auto interval, length_of(json.value("interval", Json()), "interval",
                                           {kShortestInterval, kLongestInterval}));
  call.interval = std::chrono::duration_cast<Milliseconds>(interval);
  call.length = kDefaultLength;
  if (json.contains("for")) {
    ASSAY_TRY(call.length, length_of(json["for"], "for", {kShortestInterval, kLongestLength}));
  }
  return call;
}

Result<CaptureCall> parse_capture_call(const std::string& body) {
  ASSAY_TRY(const auto json, parse_object(body, {"app", "kind", "for", "frequency"}));
  CaptureCall call;
  ASSAY_TRY(call.app, app_of(json));
  ASSAY_TRY(call.request.kind, kind_of(json.value("kind", Json())));
  if (json.contains("for")) {
    ASSAY_TRY(call.request.length,
              length_of(json["for"], "for", {kShortestInterval, kLongestCapture}));
  }
  if (json.contains("frequency")) {
    ASSAY_TRY(call.request.frequency_hz,
              number_of(json["frequency"], "frequency", kHighestFrequency));
  }
  return call;
}

}  // namespace assay::agent
