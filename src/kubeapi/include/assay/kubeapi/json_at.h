// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace assay::kubeapi {

/// What is in a map under that name; null where there is no such map or name.
inline const nlohmann::json& at(const nlohmann::json& json, const char* key) {
  static const nlohmann::json kNothing;
  if (!json.is_object()) return kNothing;
  const auto found = json.find(key);
  return found == json.end() ? kNothing : *found;
}

inline std::string text_at(const nlohmann::json& json, const char* key) {
  const nlohmann::json& value = at(json, key);
  return value.is_string() ? value.get<std::string>() : "";
}

}  // namespace assay::kubeapi
