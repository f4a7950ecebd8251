// SPDX-License-Identifier: Apache-2.0
#include "placements_call.h"

#include "old_call.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/wording.h>

namespace assay::serve {
namespace {

using nlohmann::json;

constexpr size_t kMostModels = 64;

/// Only these keys; others are likely typos.
Result<void> check_keys(const json& object, std::span<const std::string_view> known,
                        std::string_view where) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      return bad_input(
          fmt::format("{}: unknown field {}{}", where, in_quotes(key), suggestion(key, known)));
  }
  return {};
}

Result<std::optional<double>> positive(const json& object, const char* key, double most) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::optional<double>();
  const double value = found->is_number() ? found->get<double>() : -1;
  if (!(value > 0 && value <= most))
    return bad_input(
        fmt::format("'{}' must be a number above 0{}", key, most <= 1 ? " and at most 1" : ""));
  return std::optional<double>(value);
}

Result<placement::Goals> goals_of(const json& document) {
  placement::Goals goals;
  const auto found = document.find("goals");
  if (found == document.end()) return goals;
  if (!found->is_object()) return bad_input("'goals' must be an object");
  constexpr std::array<std::string_view, 4> kKnown = {"latency_seconds", "energy_joules",
                                                      "keep_free", "requests_per_second"};
  ASSAY_CHECK(check_keys(*found, kKnown, "goals"));
  constexpr double kAny = std::numeric_limits<double>::max();
  ASSAY_TRY(goals.latency_seconds, positive(*found, "latency_seconds", kAny));
  ASSAY_TRY(goals.energy_joules, positive(*found, "energy_joules", kAny));
  ASSAY_TRY(goals.keep_free, positive(*found, "keep_free", 1));
  ASSAY_TRY(goals.requests_per_second, positive(*found, "requests_per_second", kAny));
  return goals;
}

Result<ModelCall> model_of(const json& item) {
  if (!item.is_object()) return bad_input("each of 'models' must be an object");
  const auto id = item.find("id");
  if (id == item.end()) {
    ASSAY_TRY(const OldCall call, old_call_of(item));
    return ModelCall{call.model, "", call.counts};
  }
  if (!id->is_string() || id->get_ref<const std::string&>().empty())
    return bad_input("the 'id' of a model must be the text that it got when it was sent");
  const auto name = item.find("model");
  const bool named = name != item.end() && name->is_string();
  if (named && name->get_ref<const std::string&>().size() > kLongestName)
    return bad_input(fmt::format("the name of a model has at most {} characters", kLongestName));
  return ModelCall{named ? name->get<std::string>() : "", id->get<std::string>(), {}};
}

Result<std::map<std::string, double>> loads_of(const json& document) {
  std::map<std::string, double> loads;
  const auto found = document.find("loads");
  if (found == document.end()) return loads;
  if (!found->is_object()) return bad_input("'loads' must be an object of shares by node");
  for (const auto& [node, load] : found->items()) {
    if (!load.is_number() || !(load.get<double>() >= 0 && load.get<double>() <= 1))
      return bad_input(fmt::format("the load of {} must be a share from 0 to 1", in_quotes(node)));
    loads[node] = load.get<double>();
  }
  return loads;
}

/// What runs it is for the operator to choose, so there is nothing to say but whether.
Result<bool> deploy_of(const json& document) {
  const auto found = document.find("deploy");
  if (found == document.end()) return false;
  if (!found->is_boolean()) return bad_input("'deploy' must be true or false");
  return found->get<bool>();
}

}  // namespace

Result<PlacementsCall> parse_placements_call(const std::string& body) {
  const auto document = json::parse(body, nullptr, false);
  if (!document.is_object()) return bad_input("the body must be a JSON object");
  constexpr std::array<std::string_view, 6> kKnown = {
      "models", "goals", "loads", "network_bytes_per_second", "engine", "deploy"};
  ASSAY_CHECK(check_keys(document, kKnown, "the body"));
  const auto models = document.find("models");
  if (models == document.end() || !models->is_array() || models->empty() ||
      models->size() > kMostModels)
    return bad_input(fmt::format("'models' must be a list of 1 to {} models", kMostModels));
  PlacementsCall call;
  for (const auto& item : *models) {
    ASSAY_TRY(ModelCall model, model_of(item));
    call.models.push_back(std::move(model));
  }
  ASSAY_TRY(call.goals, goals_of(document));
  ASSAY_TRY(call.loads, loads_of(document));
  ASSAY_TRY(call.deploy, deploy_of(document));
  const auto engine = document.find("engine");
  if (engine != document.end() && !engine->is_string())
    return bad_input("'engine' must be the name of one");
  if (engine != document.end()) call.engine = *engine;
  ASSAY_TRY(call.network,
            positive(document, "network_bytes_per_second", std::numeric_limits<double>::max()));
  return call;
}

}  // namespace assay::serve
