// SPDX-License-Identifier: Apache-2.0
#include "json_text.h"

#include <array>
#include <nlohmann/json.hpp>

namespace assay::store {
namespace {

template <class Enum, size_t N>
std::optional<Enum> find_named(const std::array<Enum, N>& all, const Json& json) {
  for (const auto value : all) {
    if (json.is_string() && json.get_ref<const std::string&>() == to_string(value)) return value;
  }
  return std::nullopt;
}

}  // namespace

std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Json> parse_json(std::string_view text) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (json.is_discarded()) return bad_input("not JSON");
  return json;
}

std::string series_text(const SeriesInfo& info) {
  Json json = {{"name", info.name},
               {"unit", info.unit},
               {"kind", to_string(info.kind)},
               {"scope", to_string(info.scope)},
               {"source", info.source}};
  Json labels = Json::object();
  for (const auto& [key, value] : info.labels) labels[key] = value;
  if (!labels.empty()) json["labels"] = std::move(labels);
  return json_text(json);
}

Result<SeriesInfo> parse_series(std::string_view text) {
  ASSAY_TRY(const Json json, parse_json(text));
  try {
    SeriesInfo info;
    info.name = json.at("name").get<std::string>();
    info.unit = json.at("unit").get<std::string>();
    info.source = json.at("source").get<std::string>();
    const auto kind =
        find_named(std::array{Kind::gauge, Kind::counter, Kind::event}, json.at("kind"));
    const auto scope = find_named(std::array{Scope::app, Scope::node, Scope::profiler, Scope::need},
                                  json.at("scope"));
    if (!kind || !scope) return bad_input("a series of unknown kind or scope");
    info.kind = *kind;
    info.scope = *scope;
    if (const auto labels = json.find("labels"); labels != json.end()) {
      for (const auto& [key, value] : labels->items()) {
        info.labels.emplace_back(key, value.template get<std::string>());
      }
    }
    return info;
  } catch (const nlohmann::json::exception& e) {
    return bad_input(std::string("not a series: ") + e.what());
  }
}

}  // namespace assay::store
